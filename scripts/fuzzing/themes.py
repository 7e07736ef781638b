"""The themes of batches of expressions."""

from __future__ import annotations

from scripts.fuzzing.templates import Theme, each, listed

REAL = """
    sqrt exp log log2 log10 log1p expm1 exp2 sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh
    arctanh cbrt square reciprocal deg2rad sinc
"""
WHOLE = """
    floor ceil trunc rint sign abs negative isnan isinf isfinite signbit fix positive logical_not nan_to_num
    spacing
"""
PAIRED = "maximum minimum fmax fmin copysign heaviside logical_xor nextafter"
ROUNDED_PAIRED = "fmod remainder floor_divide arctan2 hypot logaddexp logaddexp2 float_power"
ORDERED = "max min argmax argmin nanmax nanmin any all count_nonzero ptp"
SUMMED = "sum mean prod std var nansum nanmean nanprod nanstd median nanmedian"

THEMES: dict[str, Theme] = {
    "elementwise": Theme(
        exact=(
            *each("np.<>({x})", WHOLE),
            *each("np.<>({x}, {x})", PAIRED),
            *each("{x} <> {x}", "< <= > >= =="),
            *each("{z} <> {z}", "== !="),
            *listed("""
                np.clip({x}, -1, {s}) ; np.clip({x}, {x}, {x}) ; np.modf({x})[0] ; np.modf({x})[1]
                np.ldexp({x}, 2) ; np.round({x}) ; -{x} ; abs({x}) ; np.where({b}, {x}, {x})
                np.nan_to_num({x}, nan=1.0, posinf=2.0) ; np.isclose({x}, {x}, equal_nan=True)
                ({x} > 0) & ({x} < 1)
            """),
        ),
        rounded=(
            *each("np.<>({x})", REAL),
            *each("np.<>({x}, {x})", ROUNDED_PAIRED),
            *each("{x} <> {x}", "+ - * /"),
            *each("{x} <> {s}", "+ * / // % **"),
            *listed("""
                {x} // {x} ; {x} % {x} ; {x} ** {x} ; {x} ** 2 ; {x} ** 3 ; {x} ** 0.5 ; {x} ** -1 ; 2.0 ** {x}
                1 / {x} ; np.round({x}, 2) ; np.divmod({x}, {x})[0] ; np.divmod({x}, {x})[1] ; {x} - {x} * {s}
                {x} / {s} / {s} ; np.sqrt({x} ** 2 + {x} ** 2) ; np.exp({x} - np.max({x})) ; np.log(np.abs({x}) + 1)
                np.where({x} > 0, np.sqrt({x}), 0.0) ; np.where({x} > 0, np.log({x}), {x}) ; ({x} * {s}) / {x}
                1 - 1 / (1 + {x} ** 2) ; np.sin({x}) / {x}
            """),
        ),
    ),
    "reductions": Theme(
        exact=(
            *each("np.<>({x}, axis={a})", ORDERED),
            *each("np.<>({i}, axis={a})", "max min argmax argmin sum prod"),
            *listed("""
                np.max({x}, axis={a}, keepdims=True) ; np.min({x}, axis={a}, initial=0.2)
                np.max({x}, initial=-1.0, where={b}) ; np.sum({b}, axis={a}) ; np.any({b}, axis={a}, keepdims=True)
                np.sum({i}, where={b}) ; np.sum({i}, dtype=np.int32) ; np.minimum.reduce({x}, axis=0)
                np.logical_and.reduce({b}, axis=0) ; max({v}) ; min({v}) ; {x}.max(axis={a})
                np.bitwise_or.reduce({i}) ; np.count_nonzero({b}, axis={a})
            """),
        ),
        rounded=(
            *each("np.<>({x}, axis={a})", SUMMED),
            *listed("""
                np.sum({x}, axis={a}, keepdims=True) * {x} ; np.sum({x}, axis={a}, where={b})
                np.mean({x}, axis={a}, where={b}) ; np.sum({f}, dtype=np.float64) ; np.mean({i}, axis={a})
                np.var({x}, axis={a}, ddof=1) ; np.std({i}, axis={a}) ; np.prod({x}, axis={a}, initial=1.5)
                np.average({x}, axis={a}) ; np.average({v}, weights={v}) ; sum({v})
                np.quantile({x}, 0.3, axis={a}) ; np.percentile({v}, [20, 70]) ; np.add.reduce({x}, axis={a})
                {x}.mean(axis={a}) ; {x} - {x}.mean(axis={a}, keepdims=True)
                np.exp({x}) / np.sum(np.exp({x}), axis={a}, keepdims=True) ; np.trapezoid({x}, axis={a})
                np.linalg.norm({x}, axis={a}) ; np.linalg.norm({v}, 1) ; np.linalg.norm({v}, np.inf) ; np.cov({m})
                np.corrcoef({v}, {v}) ; np.mean({x} * {x}) - np.mean({x}) * np.mean({x}) ; np.sum({x} / {s})
                np.mean({x} > {s}) ; np.median({i}) ; np.sum({x} * {b})
            """),
        ),
    ),
    "integers": Theme(
        exact=(
            *each("{i} <> {i}", "+ - * // % & | ^ << >> < == >="),
            *each("{i} <> {k}", "+ - * // % & | ^ << >> >"),
            *each("{k} <> {i}", "+ - * // % &"),
            *each("np.<>({i}, {i})", "maximum fmod gcd lcm minimum logical_xor heaviside"),
            *listed("""
                -{i} ; ~{i} ; abs({i}) ; np.sign({i}) ; {i} ** 2 ; {i} ** 3 ; 2 ** (np.abs({i}) % 5)
                np.cumsum({i}) ; np.prod({i}) ; {i}.astype({d}) ; {i}.astype({d}).astype(np.int64)
                ({x} * 1.0).astype(int) ; np.sum({i}, dtype=np.int8) ; np.cumprod({i}) ; np.diff({i})
                np.dot({i}, {i}) ; {i} @ {i} ; np.outer({i}, {i}) ; np.bitwise_count({i}) ; np.where({b}, {i}, {i})
                np.where({i} > 2, {i}, 0) ; np.divmod({i}, {i})[0] ; np.divmod({i}, {k})[1] ; np.full_like({i}, 3.7)
                {i}[0] // 2 ; {i}[0] % -3 ; -{i}[0] ; {i}[0] * {i}[-1] ; {i}[0] + {i} ; np.clip({i}, 2, 5)
                np.clip({i}, -1.5, 2.5) ; np.round({i}, -1) ; np.concatenate([np.ravel({i}), np.ravel({z})])
                np.append({i}, {z}) ; {b} + {b} ; {b} * {b} ; ({b}).cumsum() ; {b} ^ {b} ; {b} & {i}
                np.einsum('i,i->i', {i}, {i}) ; np.bincount(np.abs({i}) % 5) ; np.invert({i})
                np.add.accumulate({i}) ; np.convolve({i}, {i}) ; np.array([{i}[0], {i}[-1]]) ; np.minimum({i}, {b})
                np.right_shift({i}, 1) ; np.left_shift({i}, 3) ; int({i}[0]) % 7 ; int({i}[0]) // -2 ; np.ptp({i})
                np.vander({i}[:3], 3) ; np.trace({i}) ; np.kron({i}, {i}) ; {b}.astype({d}) * {i}
            """),
        ),
        rounded=(
            *listed("""
                {i} / {i} ; {i} / {k} ; {i} * {x} ; {i} + {f} ; {i} * {f} ; {i} ** -1.0 ; 2.0 ** {i}
                np.sqrt(np.abs({i})) ; np.exp({i} * 0.01) ; np.mean({i}) ; np.hypot({i}, {i}) ; np.arctan2({i}, {x})
                {i} ** {x} ; np.sin({i}) ; np.sum({f} * {i}) ; {f} // {i} ; {f} % {i} ; {i} * 2.5 ; {i} / 2 * {x}
                np.var({i}) ; {x} ** {i} ; np.polyval([1, 2, 3], {i}) ; np.round({i} / 3, 1) ; {i} * {c} ; {f} + {x}
                {f} * 2.0 ; {f} * np.float64(2.0) ; {f} / 3 ; np.float32({s}) * {f} ; {f} ** 2 ; np.tanh({f})
                np.sum({f}, axis={a}) ; np.mean({f}) ; np.cumsum({f}) ; {f} @ {f} ; {f}.astype(float) * {x}
                np.exp({f} * {k}) ; np.where({b}, {f}, {x}) ; np.where({b}, {f}, 1) ; np.log1p({f} * {f})
            """),
        ),
    ),
    "selections": Theme(
        exact=(
            *listed("""
                np.where({b}, {z}, {z}) ; np.where({b}, {z}, 0) ; np.select([{b}, {x} > 1], [{x}, {x}], 1)
                np.choose({b}.astype(int), [{x}, {x}]) ; np.piecewise({v}, [{v} < 0, {v} >= 0], [-1, 1])
                np.clip({x}, {s}, {s}) ; np.sort({x}, axis=-1) ; np.sort({x}, axis=0) ; np.sort({i})
                np.argsort({x}, axis=-1, kind='stable') ; np.argsort({i}, kind='stable')
                np.searchsorted(np.sort({v}), {x}) ; np.sort({x}, axis=None)
                np.searchsorted(np.sort({v}), {v}, side='right') ; np.digitize({x}, [-1.0, 0.0, 1.0])
                np.digitize({x}, [1.0, 0.0], right=True) ; {v}[np.argsort({v}, kind='stable')]
                np.take({x}, [0, -1], axis=0)
                np.take_along_axis({m}, np.argsort({m}, axis=0, kind='stable'), axis=0) ; {v}[j % 2] ; A[j % 2]
                A[:, j % 2] ; x[np.abs(K) % 2] ; np.partition({v}, 1)[1] ; np.lexsort(({v}, {v}))
                np.flip({x}, axis={a}) ; np.roll({x}, {k}) ; np.roll({x}, {k}, axis=0) ; np.rot90({m}, {k})
                np.repeat({x}, 2, axis=0) ; np.tile({x}, 2) ; np.concatenate([{x}, {x}])
                np.stack([{x}, {x}], axis=-1) ; np.pad({x}, 1) ; np.pad({m}, ((0, 1), (1, 0)), mode='edge')
                np.pad({v}, 2, mode='reflect') ; np.diag({v}, {k}) ; np.diag({m}, {k}) ; np.tril({m}, {k})
                np.triu({m}) ; np.argmax({x} > 0) ; np.where({b})[0].size ; {z}.reshape(-1)[::-1] ; np.ravel({x}.T)
                np.swapaxes({m}, 0, 1) ; np.moveaxis(T, 0, -1) ; np.transpose(T, (2, 0, 1))
                np.broadcast_to({v}, (2, *{v}.shape)) ; np.hstack([{m}, {m}]) ; np.vstack([{v}, {v}])
                np.array_equal({x}, {x}) ; np.unique({i}).size ; np.isin({i}, [1, 2, 3]) ; np.extract({b}, {x}).size
                np.sum(np.sort({i})) ; np.maximum.accumulate({x}, axis=0) ; np.minimum.accumulate({x}, axis=-1)
                np.expand_dims({x}, 0) ; np.squeeze({x}[:1]) ; np.atleast_2d({x}) ; {x}[..., None] > {s}
                np.dstack([{m}, {m}]) ; np.delete({v}, 0) ; np.insert({v}, 1, {s}) ; np.fliplr({m})
                np.roll({m}, (1, 2), axis=(0, 1)) ; np.block([[{m}], [{m}]]) ; np.array_split({v}, 2)[0]
                max({s}, {s}) ; min({s}, 0.0) ; {s} if {s} > 0 else -1.0 * {s} ; np.sign({x}) * {b}
            """),
        ),
        rounded=(
            *listed("""
                np.interp({x}, np.arange(4.0), np.arange(4.0) ** 2) ; np.interp({v}, np.sort(p), {v})
                np.histogram(p, bins=4)[0] ; np.bincount(np.abs(j) % 4, weights=y) ; np.diff({x}, axis=-1)
                np.diff({x}, axis=0) ; np.diff({v}, n=2) ; np.gradient({x}, axis=0) ; np.gradient({v}, 0.5)
                np.ediff1d({v}) ; np.cumsum({x}, axis={a}) ; np.cumsum({x}) ; np.cumprod({x}, axis={a})
                np.nancumsum({x}) ; np.convolve({v}, {v}) ; np.convolve({v}, {v}, mode='same')
                np.correlate({v}, {v}, 'full') ; np.add.accumulate({x}, axis=0) ; np.polyval({v}, {s})
                np.cumsum({x}[::-1])[::-1] ; np.trapezoid({v}, {v}) ; np.add.outer({v}, {v})
                np.cumulative_sum({v}) ; np.median({x}, axis=-1) ; np.unwrap({v}) ; np.cross(p[:3], p[-3:] * {s})
                np.vander({v}, 3) ; np.piecewise({v}, [{v} < 0, {v} >= 0], [lambda t: t * t, lambda t: 3 * t])
                np.where({x} != 0, {x} / {x}, 1.0) ; np.where({b}, {x} * {x}, {x} / {x})
                np.average({m}, axis=0, weights=p[:{m}.shape[0]]) ; np.clip({x} * {x}, 0.1, {s})
                np.sum(np.where({b}, {x} / {s}, 0.0)) ; np.max({x} * {x}, axis={a}) ; np.sort({x} * {x}, axis=-1)
            """),
        ),
    ),
    "complex": Theme(
        exact=(
            *listed("""
                {c}.real ; {c}.imag ; np.conj({c}) ; -{c} ; {c} == {c} ; {c} != 0 ; np.isnan({c})
                np.where({b}, {c}, {x}) ; np.isfinite({c}) ; np.real({z}) ; np.imag({z}) ; {c}[..., ::-1]
                np.concatenate([{c}, {x}]) ; np.iscomplexobj({z}) ; {c}.astype(np.complex64) ; np.stack([{c}, {c}])
                np.roll({c}, 1) ; np.tril({c})
            """),
        ),
        rounded=(
            *each("{c} <> {c}", "+ - * /"),
            *each("{c} <> {x}", "+ - * /"),
            *each(
                "np.<>({c})",
                """
                abs angle exp log sqrt sin cos tanh sinh cosh square arctan arcsinh sum prod mean
                cumsum reciprocal log1p expm1 tan
                """,
            ),
            *listed("""
                {x} / {c} ; {s} / {c} ; {x} - {c} ; {x} * {c} ; 1j * {x} ; {c} ** 2 ; {c} ** 3 ; {c} ** -1
                {c} ** 0.5 ; {c} ** {c} ; np.abs({c}) ** 2 ; np.exp(1j * {x}) ; np.exp(-1j * {x} * {s}).imag
                np.abs({c} * {c}) ; np.vdot({c}, {c}) ; {c} @ {c} ; np.dot({c}, {x}) ; np.outer({c}, {x})
                np.einsum('i,i', {c}, {c}) ; np.sum({c}, axis={a}) ; np.prod({c}, axis={a}) ; np.var({c})
                np.linalg.norm({c}) ; np.sqrt({x} + 0j) ; np.log({x} + 0j) ; np.diff({c}) ; np.convolve({c}, {v})
                np.cumprod({c}) ; np.angle({x} + 0j) ; ({c} * np.conj({c})).real ; np.sum(np.abs({c}))
                np.max(np.abs({c})) ; np.real({c} * {x}) ; np.imag({c} / {s}) ; np.mean({c}, axis={a})
                np.trace(C @ C.T) ; np.add.reduce({c}, axis=0) ; np.polyval({c}, {s}) ; abs({c})
                complex({s}, {s}) * {x} ; np.inner({c}, {c}) ; np.kron({c}, {v})
            """),
        ),
        is_normwise=True,
        is_tame=True,
    ),
    "matrices": Theme(
        exact=(
            *listed("""
                np.trace({i}) ; np.eye(3, k={k}) ; np.diagonal({m}) ; np.tri(3, 4, {k}) ; {m}.T ; np.kron({b}, {b})
            """),
        ),
        rounded=(
            *listed("""
                {m} @ {m} ; {m} @ {m}.T ; {m}.T @ {m} ; {m} @ {v} ; {v} @ {m} ; {v} @ {v} ; np.dot({m}, {m}.T)
                np.dot({v}, {s}) ; np.inner({m}, {m}) ; np.outer({v}, {v}) ; np.vdot({m}, {m})
                np.tensordot({m}, {m}, axes=([1], [1])) ; np.tensordot({m}, {m}, axes=2)
                np.tensordot(T, A, axes=([1, 2], [0, 1])) ; np.tensordot(T, x, axes=([1], [0]))
                np.tensordot({v}, {v}, 0) ; np.kron({m}, {m}) ; np.kron({v}, {m}) ; np.matmul(T, {m}.T)
                np.matmul(T, np.swapaxes(T, 1, 2)) ; {q} @ {q} ; np.einsum('ij->j', {m}) ; np.einsum('ij->ji', {m})
                np.einsum('ij,ij->i', {m}, {m}) ; np.einsum('ij,kj->ik', {m}, {m}) ; np.einsum('ii', {q})
                np.einsum('ii->i', {q}) ; np.einsum('ij,jk,kl->il', {q}, {q}, {q}) ; np.einsum('bij,bkj->bik', T, T)
                np.einsum('bij,ij->b', T, A) ; np.einsum('i,j,k->ijk', {v}, {v}, {v}) ; np.einsum('...ij->...i', T)
                np.einsum('ij,i->', {m}, {v}) ; np.einsum('bij,bij->', T, T) ; np.einsum('i,ij,j', {v}, {m}, {v})
                np.einsum('ijk->ik', T) ; np.einsum('ij,jk', {m}, {m}) ; np.einsum('bij->jb', T)
                np.einsum('bij,i->bj', T, x) ; np.linalg.solve({q}, {q}) ; np.linalg.solve({q}, p[:{q}.shape[0]])
                np.linalg.inv({q}) ; np.linalg.det({q}) ; np.linalg.slogdet({q})[1] ; np.linalg.slogdet({q})[0]
                np.linalg.norm({m}) ; np.linalg.norm({m}, 1) ; np.linalg.norm({m}, np.inf) ; np.linalg.norm({m}, 2)
                np.linalg.norm({m}, 'nuc') ; np.linalg.norm({m}, axis=0)
                np.linalg.norm({m}, axis=1, keepdims=True) ; np.linalg.norm({v}, 3)
                np.linalg.cholesky({q} @ {q}.T + np.eye({q}.shape[0])) ; np.linalg.eigvalsh({q} + {q}.T)
                np.linalg.svd({m}, compute_uv=False) ; np.linalg.matrix_power({q}, 3)
                np.linalg.matrix_power({q}, -1) ; np.linalg.pinv({m})
                np.linalg.lstsq({q}, p[:{q}.shape[0]], rcond=None)[0] ; np.linalg.qr({q})[1] ; np.linalg.cond({q})
                np.linalg.multi_dot([{q}, {q}, {q}]) ; np.trace({q}) ; np.trace({q}, offset=1)
                np.linalg.eigh({q} + {q}.T)[0] ; np.linalg.det(np.stack([Q, Q.T + np.eye(4)]))
                np.linalg.inv(np.stack([Q, Q + np.eye(4)])) ; np.linalg.matrix_norm({m})
                np.linalg.vector_norm({x}) ; np.linalg.solve(np.stack([Q, Q + np.eye(4)]), Q)
                np.cross(T[:, :, :3], T[:, :, :3]) ; np.diag({m} @ {m}.T) ; np.sum({m} * ({m} @ {m}.T @ {m}))
                np.linalg.solve({q}, {q} @ {q}) ; np.cov({m}, rowvar=False) ; np.corrcoef({m})
                ({m} * {s}) @ ({m}.T / {s}) ; np.linalg.outer({v}, {v}) ; np.linalg.solve(Q + 5j * np.eye(4), Q)
                np.linalg.inv(Q * 1j) ; np.linalg.det(Q + 1j * Q.T) ; Q.T @ (Q @ p[:4]) ; np.matvec(T, A[0])
                np.vecdot(A, B) ; np.einsum('ij,ij', A, B, optimize=True) ; np.tril({q} @ {q})
                np.linalg.tensorinv(Q.reshape(2, 2, 4), ind=2)
            """),
        ),
        is_normwise=True,
        is_tame=True,
    ),
    "transforms": Theme(
        exact=(
            *listed("""
                np.fft.fftshift({x}) ; np.fft.ifftshift({x}, axes=0) ; np.fft.fftfreq(5)
            """),
        ),
        rounded=(
            *listed("""
                np.fft.fft({v}) ; np.fft.ifft({v}) ; np.fft.rfft({v}) ; np.fft.irfft({v}) ; np.fft.fft({c})
                np.fft.fft({m}, axis=0) ; np.fft.fft2({m}) ; np.fft.ifft2(C) ; np.fft.rfft2({m}) ; np.fft.fftn(T)
                np.fft.rfft({m}, axis=0) ; np.fft.fft({v}, n=5) ; np.fft.rfft({v}, n=6) ; np.fft.irfft({c}, n=5)
                np.fft.irfft({c}, n=6) ; np.fft.hfft({c}) ; np.fft.ihfft({v}) ; np.fft.fft({v}, norm='ortho')
                np.fft.ifft({c}, norm='forward') ; np.fft.irfft(np.fft.rfft({v}), n={v}.size)
                np.fft.ifft(np.fft.fft({v}) * {c}).real ; np.abs(np.fft.fft({v})) ** 2 ; np.abs(np.fft.rfft({v}))
                np.fft.irfftn(np.fft.rfftn(T), s=T.shape) ; np.fft.fft({v}).real ; np.fft.fft({v}).imag
                np.fft.fftn({m}, axes=(0,)) ; np.fft.fft({f}) ; np.fft.fft2({m}, s=(3, 5))
                np.fft.fft({m}, axis=-1)[:, 0] ; np.fft.ifft(1j * np.fft.fftfreq({v}.size) * np.fft.fft({v})).real
                np.fft.rfft({v}) * np.conj(np.fft.rfft({v})) ; np.convolve({v}, {v}, mode='valid') ; np.fft.fft({i})
                np.fft.ifft({m} + 1j * {m}, axis=0) ; np.fft.fftshift(np.fft.fft({v}))
                np.fft.irfft2(np.fft.rfft2({m}), s={m}.shape) ; np.fft.rfftn(T, axes=(0, 2)) ; np.fft.ifftn(T * 1j)
                np.fft.rfft({v}, norm='ortho') ; np.sum(np.abs(np.fft.fft({v})) ** 2) ; np.angle(np.fft.fft({v}))
            """),
        ),
        is_normwise=True,
        is_tame=True,
    ),
    "special": Theme(
        exact=(
            *listed("""
                sp.gammasgn({x})
            """),
        ),
        rounded=(
            *each(
                "sp.<>({x})",
                """
                erf erfc erfcx erfinv gamma gammaln digamma rgamma expit logit log_expit ndtr ndtri
                log_ndtr entr dawsn erfi exp1 expi j0 j1 y0 y1 i0 i1 i0e k0 k1 k1e exprel exp10
                softplus cosdg ellipk i1e erfcinv cotdg tandg factorial
                """,
            ),
            *each(
                "sp.<>({x}, {x})",
                """
                xlogy xlog1py rel_entr kl_div beta betaln gammainc gammaincc huber pseudo_huber
                boxcox inv_boxcox binom poch zeta powm1 owens_t stdtr boxcox1p inv_boxcox1p
                """,
            ),
            *each(
                "sp.<>({k}, {x})",
                """
                jv yv iv kv jve ive yn kn eval_legendre eval_chebyt eval_hermite eval_laguerre expn
                polygamma spherical_jn spherical_in eval_chebyu xlogy eval_hermitenorm
                """,
            ),
            *listed("""
                sp.logsumexp({x}, axis={a}) ; sp.softmax({x}, axis={a}) ; sp.log_softmax({x}, axis={a})
                sp.logsumexp({v}, b={v}) ; sp.betainc({x}, {x}, {x}) ; sp.jv(0.5, {x}) ; sp.kv(1.5, {x})
                sp.eval_jacobi(2, 0.5, 1.5, {x}) ; sp.eval_gegenbauer(3, 0.7, {x}) ; sp.hyp1f1(0.5, 1.5, {x})
                sp.wofz({c}) ; sp.loggamma({c}) ; sp.erf({f}) ; sp.expit({f}) ; sp.lambertw({x}).real
                sp.multigammaln(2.5 + {x} ** 2, 2) ; np.i0({x}) ; np.sinc({x}) ; sp.sph_harm_y(2, 1, {x}, {x})
                sp.lpmv(1, 2, {x}) ; sp.hyp0f1(1.5, {x}) ; sp.comb({x}, 2) ; sp.expit({x} * {s}) - 0.5
                sp.airy({x})[0] ; sp.gammainc(p[0], {x})
            """),
        ),
        roundings=1e5,
        is_tame=True,
    ),
}
