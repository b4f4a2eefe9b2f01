#!/bin/sh
# A sink: every record becomes a line of a file.
cat >> "$SALLYPORT_DATA_DIR/records.jsonl" && echo '{"verdict": "allow"}'
