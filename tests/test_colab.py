"""The notebook can be opened in Colab, where the repository is known."""

import os


def test_colab_is_offered_just_where_the_repository_is_known(site):
    repository = os.environ.get("REPO_URL", "").removeprefix("https://github.com/")
    link = (
        f"https://colab.research.google.com/github/{repository}/blob/gh-pages/code/attention.ipynb"
    )
    text = "".join(file.read_text("utf-8") for file in site.rglob("*.html"))
    if repository:
        assert f'href="{link}"' in text
    else:
        assert "colab.research.google.com/" not in text
