"""Arguments of actions, and their side effects."""

from cdpengine._api.page.core import ElementTarget
from cdpengine._api.page.forms import Field
from cdpengine._input.forms.fill import FillValue
from cdpengine._page.side_effects import DownloadStarted, NavigationStarted, PopupOpened

__all__ = [
    "DownloadStarted",
    "ElementTarget",
    "Field",
    "FillValue",
    "NavigationStarted",
    "PopupOpened",
]
