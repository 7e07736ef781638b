# %% [markdown]
# # A transformer in NumPy
#
# A transformer with two heads learns to reverse sequences. Its parameters are nested dicts and lists; the gradient
# comes in the same structure, and Adam is a dozen lines of NumPy.
#
# To write a sequence backwards, each place has to look at the one opposite. That is what attention is for, and after
# training the weights of attention show it.

# %%
import matplotlib.pyplot as plt
import numpy as np

import sdfgad

# %% [markdown]
# ## The program
#
# One array of shape (sequences, places, width) passes through the layers: attention, then a small network at each
# place.

# %%
TOKENS, LENGTH, WIDTH, HEADS, LAYERS = 10, 8, 32, 2, 1


def normalised(x, scale):
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return scale * centred / np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + 1e-5)


def attention(layer, x):
    """What each place gathers from the others, and the weights with which it does."""
    sequences, places, width = x.shape
    query, key, value = (
        (x @ layer[name]).reshape(sequences, places, HEADS, width // HEADS).transpose(0, 2, 1, 3)
        for name in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(width // HEADS)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights /= np.sum(weights, axis=-1, keepdims=True)
    gathered = (weights @ value).transpose(0, 2, 1, 3).reshape(x.shape)
    return gathered @ layer["out"], weights


def logits(parameters, tokens):
    x = parameters["token"][tokens] + parameters["place"]
    for layer in parameters["layers"]:
        x = x + attention(layer, normalised(x, layer["scale"]))[0]
        hidden = np.maximum(normalised(x, layer["scale2"]) @ layer["up"] + layer["bias"], 0.0)
        x = x + hidden @ layer["down"]
    return x @ parameters["read"]


def loss(parameters, tokens, wanted):
    """The mean cross-entropy, in nats a token."""
    score = logits(parameters, tokens)
    score = score - np.max(score, axis=-1, keepdims=True)
    total = np.log(np.sum(np.exp(score), axis=-1))
    right = np.take_along_axis(score, wanted[:, :, None], axis=-1)[:, :, 0]
    return np.mean(total - right)


# %% [markdown]
# ## The parameters

# %%
rng = np.random.default_rng(0)


def matrix(rows, columns):
    return rng.standard_normal((rows, columns)) / np.sqrt(rows)


parameters = {
    "token": rng.standard_normal((TOKENS, WIDTH)),
    "place": rng.standard_normal((LENGTH, WIDTH)),
    "layers": [
        {name: matrix(WIDTH, WIDTH) for name in ("query", "key", "value", "out")}
        | {"up": matrix(WIDTH, 2 * WIDTH), "bias": np.zeros(2 * WIDTH), "down": matrix(2 * WIDTH, WIDTH)}
        | {"scale": np.ones(WIDTH), "scale2": np.ones(WIDTH)}
        for _ in range(LAYERS)
    ],
    "read": matrix(WIDTH, TOKENS),
}


def arrays(tree):
    """All arrays of nested dicts and lists, in order."""
    if isinstance(tree, np.ndarray):
        return [tree]
    return [array for part in (tree.values() if isinstance(tree, dict) else tree) for array in arrays(part)]


print(sum(array.size for array in arrays(parameters)), "parameters")

# %% [markdown]
# ## Training
#
# The gradient by `parameters` has their structure, so that `arrays` lists both in the same order. Adam updates in
# place.

# %%
gradient = sdfgad.differentiate(loss, wrt="parameters")
moments = [(np.zeros_like(array), np.zeros_like(array)) for array in arrays(parameters)]
losses = []
for step in range(1, 301):
    tokens = rng.integers(TOKENS, size=(32, LENGTH))
    value, slopes = gradient.value_and_grad(parameters, tokens, tokens[:, ::-1].copy())
    losses.append(value)
    for array, slope, (first, second) in zip(arrays(parameters), arrays(slopes), moments, strict=True):
        first += 0.1 * (slope - first)
        second += 0.01 * (slope**2 - second)
        array -= 2e-3 * (first / (1.0 - 0.9**step)) / (np.sqrt(second / (1.0 - 0.99**step)) + 1e-8)
    if step in (1, 30, 100, 300):
        print(f"step {step}: loss {value:.4f}")

# %% [markdown]
# ## What it learnt
#
# On sequences that it has not seen. Attention lies on the antidiagonal: place 1 looks at place 8, and so on.

# %%
tokens = rng.integers(TOKENS, size=(500, LENGTH))
guessed = np.argmax(logits(parameters, tokens), axis=-1)
accuracy = np.mean(guessed == tokens[:, ::-1])
print(f"{100 * accuracy:.1f} % of the tokens right;", tokens[0], "->", guessed[0])

layer = parameters["layers"][0]
weights = attention(layer, normalised(parameters["token"][tokens] + parameters["place"], layer["scale"]))[1]
figure, axes = plt.subplots(1, 3, figsize=(9, 3.0))
axes[0].semilogy(losses)
axes[0].axhline(np.log(TOKENS), color="gray", lw=0.7, ls="--", label="guessing")
axes[0].set(xlabel="step", ylabel="loss (nats a token)", title="training")
axes[0].legend()
for head in range(HEADS):
    image = axes[1 + head].imshow(
        np.mean(weights[:, head], axis=0), extent=(0.5, LENGTH + 0.5, LENGTH + 0.5, 0.5), vmin=0, vmax=1
    )
    axes[1 + head].set(xlabel="looks at place", ylabel="place", title=f"head {head + 1}")
figure.colorbar(image, ax=axes[1:], label="mean weight of attention", shrink=0.8)
plt.show()

# %%
sdfgad.check_grads(loss, parameters, tokens[:4], tokens[:4, ::-1].copy(), wrt="parameters")
assert accuracy > 0.99
