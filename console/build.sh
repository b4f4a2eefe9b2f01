#!/bin/sh
# Bundles the console: console/build.sh OUT [ESBUILD]. Needs esbuild, gzip and coreutils; neither Node nor npm.
#
# OUT gets each file in plain form and as .gz, and assets.inc, which src/console/assets.cc includes. Files that a
# browser may keep have a hash of their content in their name. Equal sources give equal bytes.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
esbuild=${2:-esbuild}
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$out/work
rm -rf "$work"
mkdir -p "$work"
find "$out" -maxdepth 1 -type f ! -name assets.inc -delete
cd "$here"

bundle() {
  NODE_PATH=$here/vendor "$esbuild" "$@" --bundle --minify --charset=utf8 --legal-comments=none --target=es2022 \
    --jsx=automatic --jsx-import-source=preact --log-level=warning
}
digest() { sha256sum "$1" | cut -c1-16; }
csp_digest() { sha256sum "$1" | cut -c1-64 | tr a-f A-F | basenc --base16 -d | base64; }

list=''
# take FILE NAME TYPE CACHED|FRESH|DOWNLOAD: one more asset.
take() {
  cp "$1" "$out/$2"
  gzip -9nc "$out/$2" >"$out/$2.gz"
  list="$list $2|$3|$4"
}
# hashed FILE STEM EXTENSION TYPE: one more asset, with the hash of its content in its name. Sets `name`.
hashed() {
  name=$2-$(digest "$1").$3
  take "$1" "$name" "$4" Cached
}

bundle src/worker.ts --format=iife --outfile="$work/worker.js"
hashed "$work/worker.js" worker js Script
worker=$name
hashed text/uk.json uk json Json
ukrainian=$name
bundle src/main.tsx --format=esm "--define:WORKER=\"/console/$worker\"" "--define:UKRAINIAN=\"/console/$ukrainian\"" --outfile="$work/app.js"
hashed "$work/app.js" app js Script
app=$name
bundle src/style.css --outfile="$work/style.css"
hashed "$work/style.css" style css Style
style=$name
hashed icon.svg icon svg Icon
icon=$name

build=$(cat "$work/worker.js" "$work/app.js" "$work/style.css" | sha256sum | cut -c1-16)
sed -e "s|@APP@|$app|; s|@STYLE@|$style|; s|@ICON@|$icon|; s|@BUILD@|$build|" shell.html >"$work/shell.html"
take "$work/shell.html" shell.html Page Shell
printf '{"build":"%s"}\n' "$build" >"$work/build.json"
take "$work/build.json" build.json Json Fresh

# verify.html: one file. Its policy admits script and style by their hash and forbids every connection.
bundle src/verify_page.ts --format=iife --outfile="$work/verify.js"
bundle src/verify_page.css --outfile="$work/verify.css"
printf '%s' "$(cat "$work/verify.js")" >"$work/verify.inline.js"
printf '%s' "$(cat "$work/verify.css")" >"$work/verify.inline.css"
script=$(csp_digest "$work/verify.inline.js") look=$(csp_digest "$work/verify.inline.css")
while IFS= read -r line; do
  case $line in
    *@POLICY@*) printf '%s\n' "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-$script'; style-src 'sha256-$look'; connect-src 'none'; base-uri 'none'; form-action 'none'\">" ;;
    *@STYLE@*) printf '<style>' && cat "$work/verify.inline.css" && printf '</style>\n' ;;
    *@SCRIPT@*) printf '<script>' && cat "$work/verify.inline.js" && printf '</script>\n' ;;
    *) printf '%s\n' "$line" ;;
  esac
done <verify.html >"$work/verify.html"
take "$work/verify.html" verify.html Page Download

# All licences, in the order of the lock file.
sed -n 's/^      "name": "\(.*\)",$/\1/p' vendor/lock.json | while IFS= read -r package; do
  version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "vendor/$package/package.json" | head -n 1)
  printf '%s %s\n\n' "$package" "$version"
  cat "vendor/$package/LICENSE"
  printf '\n\n'
done >"$work/licenses.txt"
take "$work/licenses.txt" licenses.txt Text Fresh

{
  printf '// Made by console/build.sh.\n'
  number=0
  rows=''
  for entry in $list; do
    file=${entry%%|*}
    rest=${entry#*|}
    # The digest is in the text, so that a compiler cache detects a change of the content.
    for form in '' .gz; do
      printf '// sha256 %s\nconstexpr unsigned char k%s%s[] = {\n#embed "%s%s"\n};\n' \
        "$(sha256sum "$out/$file$form" | cut -c1-64)" "$([ -n "$form" ] && echo Gzip || echo Plain)" "$number" "$file" "$form"
    done
    rows="$rows    {\"$file\", ContentType::${rest%%|*}, Keeping::${rest##*|}, kPlain$number, kGzip$number, \"$(digest "$out/$file")\"},
"
    number=$((number + 1))
  done
  printf 'constexpr Asset kAssets[] = {\n%s};\n' "$rows"
} >"$work/assets.inc"
mv "$work/assets.inc" "$out/assets.inc"
rm -rf "$work"
