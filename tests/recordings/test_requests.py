"""Every recorded request, read and written again, asks the same."""

from __future__ import annotations

from tests.grouping import for_each
from tests.recordings.loader import Recording, dialect_of, requests
from tests.recordings.normal import differences, normal
from thinkwire import dialects


@for_each("recording", requests(), group=dialect_of)
def test_requests_survive_reading_and_writing(recording: Recording) -> None:
    assert recording.request is not None
    dialect = dialects.get(recording.dialect)
    request = dialect.decode_request(recording.request)
    encoded = dialect.encode_request(request)
    sent, again = (normal(recording.dialect, body) for body in (recording.request, encoded.body))
    assert list(differences(sent, again)) == []
    assert dialect.decode_request(encoded.body) == request
    assert [note for note in encoded.notes if note.code.endswith(".dropped")] == []
