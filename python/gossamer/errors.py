"""The exceptions of Gossamer: one class for each kind of error that a program may treat in its own way."""


class Error(Exception):
    """Anything that Gossamer refuses or fails at.

    ``code`` is the kind as in C++ ("usage", "bad-data", "io", "bad-packet", "diverged", "interrupted", "failed",
    "device"), ``sentence`` says what was wrong and where, ``remedy`` what to do about it.
    """

    def __init__(self, code: str, sentence: str, remedy: str = ""):
        super().__init__(f"{sentence}; {remedy}" if remedy else sentence)
        self.code = code
        self.sentence = sentence
        self.remedy = remedy

    def __reduce__(self):
        return type(self), (self.code, self.sentence, self.remedy), self.__dict__


class UsageError(Error, ValueError):
    """The request is wrong: an unknown name, a value out of range, settings that exclude each other."""


class BadDataError(Error):
    """A file is damaged, or is not of the format that it claims."""


class NoRunError(Error, FileNotFoundError):
    """There is no run in a folder."""


class DivergedError(Error, ArithmeticError):
    """A loss or a model is not finite."""


class RunError(Error, RuntimeError):
    """The run failed: an actor died, too few nodes are left, a promise was broken."""


class MembershipChanged(RunError):
    """Members of a group are lost. ``lost`` has their ranks."""

    lost: tuple[int, ...] = ()


_classes = {"usage": UsageError, "bad-data": BadDataError, "diverged": DivergedError, "failed": RunError}


def _error(code: str, sentence: str, remedy: str = "") -> Error:
    return _classes.get(code, Error)(code, sentence, remedy)


def usage_error(sentence: str, remedy: str = "") -> UsageError:
    return UsageError("usage", sentence, remedy)


def membership_changed(lost: tuple[int, ...], sentence: str, remedy: str = "") -> MembershipChanged:
    error = MembershipChanged("failed", sentence, remedy)
    error.lost = lost
    return error
