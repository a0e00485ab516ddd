"""Sentences of live figures that the build hands to their scripts: told here alone.

The build fills the {holes} with `str.format`, a script with the `tell` of assets/live/figure.js.
"""

SHARPNESS = {"bits": "Entropy raw {raw}, scaled {scaled}, of at most {maximum} bits."}

LAB = {"own": "These are the page’s own draws."}

PROBE = {
    "none": "no weight moved, not by one bit",
    "some": "{count} of the weights moved",
    "mended": "the row of “{token}” is {row}",
    "lost": "the row of “{token}” is 0 divided by 0, which is no number: its weights are lost",
}

HEADS = {
    "gap": "Between the two sentences, the outputs differ by at most {gap}.",
}

ROTATION = {
    "dot": "{distance} apart, the dot product is {dot}.",
    "drawn": "The pair of the query, turned by {query} degrees, and that of the key, by {key}.",
}

VIEWER = {
    "place": "{letter} at place {place}",
    "most": "Layer {layer} looks most at {where}, with {share}.",
    "blind": "Layer {layer} looks at nothing.",
    "new": "{letter} has not been here before: nobody can know what follows, and training "
    "never asked.",
    "right": "{letter} has been here before, and then came {known}. The model says {said}, "
    "with {share}: right.",
    "wrong": "{letter} has been here before, and then came {known}. The model says {said}, "
    "with {share}: wrong.",
    "or": " or ",
    "summary": "{right} of {known} right.",
}

DIAL = {
    "plot": "FLOPs of one layer by tokens: the matrices and the n² part are equal at "
    "{crossover} tokens.",
    "at": "exactly at the crossover",
    "below": "below it: the matrices cost more",
    "above": "above it: scores and mixing cost more",
}

DETECTIVE = {
    "few": "{name} has {wanted}; yours has {off} too few.",
    "many": "{name} has {wanted}; yours has {off} too many.",
    "solved": "Solved: {wanted}, exactly as published for {name}.",
}
