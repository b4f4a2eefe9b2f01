#!/usr/bin/env bash
# Brings third-party modules of the console from npm into console/vendor/, exactly as npm ships them.
#
#   tools/vendor-console.sh                          fetches every package of the lock file again
#   tools/vendor-console.sh NAME VERSION [FILE...]   adds or updates one; without files, those of the lock file
#
# console/vendor/lock.json holds name, version, licence, the tarball's sha512 and the sha256 of each file.
# Besides the tests, this is the only place that needs npm.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PYTHON'
import base64, hashlib, json, pathlib, shutil, subprocess, sys, tarfile, tempfile

VENDOR = pathlib.Path("console/vendor")
LOCK = VENDOR / "lock.json"
ALWAYS = ["LICENSE", "package.json"]


def fetch(package):
    """Writes the files of one package; fills in what the lock file says of them."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["npm", "pack", "--silent", "--pack-destination", folder, f"{package['name']}@{package['version']}"],
                              check=True, capture_output=True, text=True)
        tarball = pathlib.Path(folder) / done.stdout.strip().splitlines()[-1]
        integrity = "sha512-" + base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
        known = package.get("integrity")
        if known and known != integrity:
            sys.exit(f"{package['name']}@{package['version']}: npm gives {integrity}, the lock file says {known}")
        package["integrity"] = integrity
        target = VENDOR / package["name"]
        shutil.rmtree(target, ignore_errors=True)
        with tarfile.open(tarball) as archive:
            members = {member.name.split("/", 1)[1]: member for member in archive if member.isfile()}
            files = {}
            for name in sorted({*ALWAYS, *package["files"]}):
                content = archive.extractfile(members[name]).read()
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                (target / name).write_bytes(content)
                files[name] = hashlib.sha256(content).hexdigest()
        package["files"] = files
        package["licence"] = json.loads((target / "package.json").read_text())["license"]


packages = {one["name"]: one for one in json.loads(LOCK.read_text())["packages"]} if LOCK.exists() else {}
wanted = list(packages.values())
if len(sys.argv) > 1:
    if len(sys.argv) < 3:
        sys.exit("give a package and its version, or nothing")
    name, version, *files = sys.argv[1:]
    files = files or list(packages.get(name, {}).get("files", []))
    packages[name] = {"name": name, "version": version, "files": files}
    wanted = [packages[name]]
for package in wanted:
    fetch(package)
order = ["name", "version", "licence", "integrity", "files"]
lock = {"packages": [{key: packages[name][key] for key in order} for name in sorted(packages)]}
LOCK.write_text(json.dumps(lock, indent=2) + "\n")
PYTHON
