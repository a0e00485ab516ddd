"""A trained Transformer, run by this package, gives the numbers that its authors published.

RXNMapper (Schwaller et al. 2021, MIT licence) ships its weights within its package, 3 MB:
ALBERT, twelve times the same post-norm block of 8 heads, trained on chemical reactions. One
head looks from each atom of the product to where it came from. Its README and its tests
publish the map of the atoms and a confidence, the product of weights of that head.
"""

import ast
import io
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from conftest import importable, need

from attention import attention_weights, layer_norm, split_heads, transformer_block

pytestmark = pytest.mark.ci

WHEEL = (
    "rxnmapper==0.4.3 --hash=sha256:"
    "27876a4286881aafd286fd6f24a6a56a4ca6ba22d68e035a0ea120106c541ba5\n"
)
HEADS = 8
LAYER, HEAD = 10, 5  # which the authors found to map atoms
PARTS = {  # of a block here, and as the file names it
    "q": "attention.query",
    "k": "attention.key",
    "v": "attention.value",
    "o": "attention.dense",
    "up": "ffn",
    "down": "ffn_output",
    "norm_1": "attention.LayerNorm",
    "norm_2": "full_layer_layer_norm",
}
NEIGHBOURS = 90  # how much more a pair of atoms counts once their neighbours are mapped

PUBLISHED = {  # a reaction: where each atom of the product came from, and the confidence
    "C(C)O.BrC(C)>>CCOCC": ([1, 0, 2, 4, 5], 0.9754605679009868),
    "CCO.BrCFC>>CCOCFC": ([0, 1, 2, 4, 5, 6], 0.9730222157275086),
    "COC(=O)CCBr.O=C[O-]->[K+]>>COC(=O)CCOC(=O)C": (
        [0, 1, 2, 3, 4, 5, 9, 8, 7, -1],
        0.9322116305783666,
    ),
    "CC(C)S.CN(C)C=O.Fc1cccnc1F.O=C([O-])[O-].[K+].[K+]>>CC(C)Sc1ncccc1F": (
        [0, 1, 2, 3, 15, 14, 13, 12, 11, 10, 9],
        0.9565619900376546,
    ),
    "C1COCCO1.CC(C)(C)OC(=O)CONC(=O)NCc1cccc2ccccc12.Cl>>O=C(O)CONC(=O)NCc1cccc2ccccc12": (
        [12, 11, 10, *range(13, 30)],
        0.9704424331552834,
    ),
}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """What the package ships: a function from text to tokens, the vocabulary, the weights."""
    torch = need(importable("torch"), "PyTorch (.ci/torch.txt)")
    folder = tmp_path_factory.mktemp("wheel")
    (folder / "wanted.txt").write_text(WHEEL)
    pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes"]
    got = subprocess.run([*pip, "-r", "wanted.txt"], cwd=folder, capture_output=True, text=True)
    wheel = need(next(folder.glob("*.whl"), None), f"a package index ({got.stderr[-500:]})")
    with zipfile.ZipFile(wheel) as files:
        home = "rxnmapper/models/transformers/albert_heads_8_uspto_all_1310k"
        code = ast.parse(files.read("rxnmapper/smiles_utils.py"))
        words = files.read(f"{home}/vocab.txt").decode().splitlines()
        weights = io.BytesIO(files.read(f"{home}/pytorch_model.bin"))
    pattern = next(
        node.value.value
        for node in code.body
        if isinstance(node, ast.Assign) and node.targets[0].id == "SMI_REGEX_PATTERN"
    )
    tensors = torch.load(weights, map_location="cpu", weights_only=True)
    arrays = {name.removeprefix("albert."): tensor.numpy() for name, tensor in tensors.items()}
    return re.compile(pattern).findall, {word: i for i, word in enumerate(words)}, arrays


def head_weights(tokens, vocabulary, arrays):
    """The attention weights, (n, n), of the head that maps atoms."""
    ids = [vocabulary.get(token, vocabulary["[UNK]"]) for token in tokens]
    tables = (arrays[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position"))
    words, positions = (
        table[rows] for table, rows in zip(tables, (ids, range(len(ids))), strict=True)
    )
    x = words + positions + arrays["embeddings.token_type_embeddings.weight"][0]
    norm = (arrays[f"embeddings.LayerNorm.{name}"] for name in ("weight", "bias"))
    x = layer_norm(x, *norm, eps=1e-12)
    wider = "encoder.embedding_hidden_mapping_in"
    x = x @ arrays[f"{wider}.weight"].T + arrays[f"{wider}.bias"]
    inside, block = "encoder.albert_layer_groups.0.albert_layers.0", {}
    for ours, theirs in PARTS.items():
        block[f"w_{ours}"] = arrays[f"{inside}.{theirs}.weight"].T
        block[f"b_{ours}"] = arrays[f"{inside}.{theirs}.bias"]
    for _ in range(LAYER):
        x = transformer_block(x, block, HEADS, norm_first=False, eps=1e-12)
    query, key = (
        split_heads(x @ block[f"w_{name}"] + block[f"b_{name}"], HEADS)[HEAD] for name in "qk"
    )
    return attention_weights(query, key)


def bonds(tokens, atoms):
    """Which of the atoms (places in tokens) are neighbours: (n, n) of booleans."""
    number = {place: i for i, place in enumerate(atoms)}
    near, last, open_branches, open_rings = np.zeros((len(atoms),) * 2, bool), None, [], {}
    for place in range(atoms[0], len(tokens)):
        token = tokens[place]
        if token in (">>", "[SEP]"):
            break
        if place in number:
            if last is not None:
                near[last, number[place]] = near[number[place], last] = True
            last = number[place]
        elif token == "(":
            open_branches.append(last)
        elif token == ")":
            last = open_branches.pop()
        elif token == ".":
            last = None
        elif token in open_rings:
            other = open_rings.pop(token)
            near[last, other] = near[other, last] = True
        elif token.isdigit():
            open_rings[token] = last
    return near


def map_atoms(tokens, weights):
    """The authors' map: the surest pair of atoms first, which makes their neighbours surer."""
    arrow = tokens.index(">>")
    elements = [re.sub(r"[^A-Za-z]|(?<=.)H\d?", "", token).capitalize() for token in tokens]
    atoms = [i for i, e in enumerate(elements) if e and tokens[i] not in ("[CLS]", "[SEP]")]
    before, after = ([i for i in atoms if (i > arrow) == late] for late in (False, True))
    scores = weights[np.ix_(after, before)] + weights[np.ix_(before, after)].T
    scores *= [[elements[i] == elements[j] for j in before] for i in after]
    near_before, near_after = bonds(tokens, before), bonds(tokens, after)
    origin, confidence = [-1] * len(after), 1.0
    for _ in after:
        total = scores.sum(axis=1, keepdims=True)
        shares = scores / np.where(total == 0, 1, total)
        product, source = np.unravel_index(shares.argmax(), shares.shape)
        if shares.max() < 1e-8:
            break
        origin[product], confidence = int(source), confidence * shares.max()
        scores[np.ix_(near_after[product], near_before[source])] *= NEIGHBOURS
        scores[product], scores[:, source] = 0, 0
    return origin, confidence


@pytest.mark.parametrize("reaction", PUBLISHED)
def test_the_published_map_and_confidence_come_out(model, reaction):
    tokenize, vocabulary, arrays = model
    tokens = ["[CLS]", *tokenize(reaction), "[SEP]"]
    for dtype in ("float32", "float64"):
        cast = {name: array.astype(dtype) for name, array in arrays.items()}
        weights = head_weights(tokens, vocabulary, cast)
        assert weights.dtype == dtype
        origin, confidence = map_atoms(tokens, weights)
        published = PUBLISHED[reaction]
        assert origin == published[0]
        assert abs(confidence - published[1]) < 1e-6  # theirs is worked out in float32
