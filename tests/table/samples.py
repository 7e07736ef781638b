"""Tests, transformations and circular statistics of samples, of scipy.stats."""

from tests.table.cases import Group

add = Group("scipy.stats, tests and transformations")

OF_A, OF_TWO = "r = stats.ttest_1samp(x, y", "r = stats.ttest_ind(x, y"
RESULT = "\nreturn np.stack([r.statistic, r.pvalue])"
T = {"jax": None, "dtypes": "d", "tolerance": 100}
for rest in (")", ", alternative='less')", ", axis=None)"):
    add(OF_A + rest + RESULT, x="6x2", y="()", function="scipy.stats.ttest_1samp", label=f"ttest_1samp{rest}", **T)
for rest in (")", ", equal_var=False)", ", axis=0, alternative='greater')"):
    add(OF_TWO + rest + RESULT, x="6x2", y="5x2", function="scipy.stats.ttest_ind", label=f"ttest_ind{rest}", **T)
add(
    "t, p = stats.ttest_rel(x, y)\nreturn t * p", x="6", y="6", function="scipy.stats.ttest_rel", label="ttest_rel", **T
)
add("stats.boxcox(x, y)", x="5 positive", y="() positive", **T)
add("stats.boxcox(x, 0.0) + stats.boxcox_llf(0.4, x)", x="5 positive", **T)
add("stats.boxcox_llf(y, x)", x="5x2 positive", y="() positive", **T)
add("stats.yeojohnson(x, y)", x="6 nonzero", y="() positive", **T)
add("stats.yeojohnson(x, 2) + stats.yeojohnson(x, 0)", x="6 nonzero", jax=None, tolerance=100)
for name in ("circmean", "circvar", "circstd"):
    add(f"stats.{name}(x)", x="5 positive | 2x3 positive", jax=None, tolerance=10)
    add(f"stats.{name}(x, high=3.0, low=-1.0, axis=1)", x="2x4 unit", **T)
add("stats.circstd(x, axis=0, normalize=True, keepdims=True)", x="4x2", **T)
