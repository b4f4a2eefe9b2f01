#include "effects/program_table.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace sallyport::effects {

namespace {

constexpr auto kPrograms = std::to_array<Program>({
    {.names = "echo true false : pwd which whereis ps sleep id whoami uname "
              "uptime free groups tty seq yes basename dirname expr nproc arch cal clear tput "
              "bg fg dirs umask ulimit times getconf locale logname users w "
              "lsblk lscpu lsusb lspci vmstat pgrep pidof top printenv shift return exit break "
              "continue suspend logout disown caller tr"},
    {.names = "date", .options = "-f,--file=< -r,--reference=< -d,--date= -s,--set="},
    {.names = "hostname", .options = "-F,--file=<"},
    {.names = "who", .operands = Operands::Read},
    {.names = "test [ printf wait getopts cd pushd popd export declare typeset local readonly "
              "unset set shopt read "
              "let eval trap source . alias unalias hash enable bind complete compgen compopt "
              "mapfile readarray history fc type crontab at batch",
     .operands = Operands::Special},

    {.names = "cat tac wc rev md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum "
              "cksum sum "
              "readlink realpath zcat bzcat xzcat cmp more lsof tsort strings",
     .operands = Operands::Read,
     .options = "--files0-from=<"},
    {.names = "zstdcat",
     .operands = Operands::Read,
     .options = "-o=> -D=< --filelist=! "
                "--output-dir-flat=> --output-dir-mirror=>"},
    {.names = "file",
     .operands = Operands::Read,
     .options = "-m,--magic-file=< -f,--files-from=< -e,--exclude= -F,--separator= -P= "
                "-C,--compile:W"},
    {.names = "less",
     .operands = Operands::Read,
     .options = "-o,-O,--log-file,--LOG-FILE=> -k,--lesskey-file,--lesskey-src,--lesskey-content=! "
                "-T,--tag-file=< -t,--tag= -p,--pattern= -b= -D= -h= -j= -P= -x= -y= -z="},
    {.names = "stat", .operands = Operands::Read, .options = "-c,--format= --printf="},
    {.names = "cut paste join comm nl fold fmt expand unexpand column od base64 base32 iconv pr",
     .operands = Operands::Read,
     .options = "-d,--delimiter,--delimiters= -f,--fields= --characters= --output-delimiter= "
                "-w,--width,--wrap= "
                "-o,--output=>"},
    {.names = "hexdump", .operands = Operands::Read, .options = "-n= -s= -e= -f=<"},
    {.names = "head tail",
     .operands = Operands::Read,
     .options = "-n,--lines= -c,--bytes= -f -F -q -v -z --pid= -s,--sleep-interval= --retry"},
    {.names = "diff sdiff",
     .operands = Operands::Read,
     .options = "-r,--recursive:R -U,--unified=? -C,--context=? -x,--exclude= -X,--exclude-from=< "
                "-I= -W= -L,--label= --from-file=< --to-file=< -F= -S= -o,--output=> "
                "--diff-program=!"},
    {.names = "ls dir vdir",
     .operands = Operands::ReadHere,
     .options = "-R,--recursive:R -I,--ignore= -T= -w= --block-size= --sort= --time= --color"},
    {.names = "du df",
     .operands = Operands::ReadHere,
     .options = "-d,--max-depth= -B,--block-size= -t,--type= -x --exclude= -X,--exclude-from=< "
                "--files0-from=<",
     .always_recursive = true},
    {.names = "tree",
     .operands = Operands::ReadHere,
     .options = "-o=> -R:W -L,--level= -P= -I= --filelimit= --charset= -H= -T= --fromfile",
     .always_recursive = true},
    {.names = "grep egrep fgrep zgrep",
     .operands = Operands::PatternRead,
     .options = "-e,--regexp=~ -f,--file=~ -r,-R,--recursive,--dereference-recursive:R "
                "-A,--after-context= -B,--before-context= -C,--context= -m,--max-count= --include= "
                "--exclude= --exclude-dir= --exclude-from=< -d,--directories= -D,--devices= "
                "--label= --color --colour --binary-files="},
    {.names = "rg",
     .operands = Operands::PatternRead,
     .options = "-e,--regexp=~ -f,--file=~ --pre=! --hostname-bin=! -A,--after-context= "
                "-B,--before-context= -C,--context= -m,--max-count= -g,--glob= --iglob= -t,--type= "
                "-T,--type-not= -M,--max-columns= -j,--threads= -r,--replace= -d,--max-depth= "
                "--ignore-file=< --sort= --sortr= --color= --colors= -E,--encoding= "
                "--files:~ --type-list:N -z,--search-zip",
     .always_recursive = true},
    {.names = "jq",
     .operands = Operands::PatternRead,
     .options = "-f,--from-file=~ --indent= -L= -n -r -c -s -S -e -M -C -a -j --tab --seq"},
    {.names = "sort",
     .operands = Operands::Read,
     .options = "-o,--output=> --compress-program=! -k,--key= -t,--field-separator= "
                "-S,--buffer-size= -T,--temporary-directory= --parallel= --files0-from=< "
                "--batch-size= --sort= --random-source=<"},
    {.names = "shuf",
     .operands = Operands::Read,
     .options = "-o,--output=> -n,--head-count= -i,--input-range= --random-source=< -e"},
    {.names = "uniq",
     .operands = Operands::ReadWrite,
     .options = "-f,--skip-fields= -s,--skip-chars= -w,--check-chars= -c -d -u -i -z"},
    {.names = "xxd",
     .operands = Operands::ReadWrite,
     .options = "-l,-len= -s,-seek= -c,-cols= -g= -o="},
    {.names = "find", .operands = Operands::Special, .single_dash = true, .always_recursive = true},

    {.names = "rm",
     .operands = Operands::Delete,
     .options = "-r,-R,--recursive:R -f,--force -i -I --interactive=? -d,--dir -v,--verbose "
                "--one-file-system --no-preserve-root --preserve-root --help --version",
     .complete = true},
    {.names = "rmdir",
     .operands = Operands::Delete,
     .options = "-p,--parents -v,--verbose --ignore-fail-on-non-empty"},
    {.names = "unlink shred",
     .operands = Operands::Delete,
     .options = "-n,--iterations= -s,--size= --random-source=< -u,--remove=? -z -v -x -f"},
    {.names = "mv",
     .operands = Operands::Move,
     .options = "-t,--target-directory=T -S,--suffix= -f,--force -i,--interactive -n,--no-clobber "
                "-u,--update=? -v,--verbose -b --backup=? -T,--no-target-directory -Z --context=? "
                "--strip-trailing-slashes --debug --help --version",
     .complete = true},
    {.names = "cp",
     .operands = Operands::Copy,
     .options =
         "-r,-R,--recursive:R -a,--archive:L -d:L -P,--no-dereference:L -t,--target-directory=T "
         "-S,--suffix= -f,--force -i,--interactive -n,--no-clobber -u,--update=? -v,--verbose "
         "-b --backup=? -T,--no-target-directory -p --preserve=? --no-preserve= --parents "
         "-l,--link -s,--symbolic-link:L -L,--dereference -H -x,--one-file-system --reflink=? "
         "--sparse= --attributes-only --remove-destination --copy-contents -Z --context=? "
         "--strip-trailing-slashes --debug --help --version",
     .complete = true},
    {.names = "install",
     .operands = Operands::Copy,
     .options = "-t,--target-directory=T -m,--mode= -o,--owner= -g,--group= -S,--suffix= "
                "-d,--directory:W -D -s -b -p -v -T --strip-program=! --backup=?"},
    {.names = "ln",
     .operands = Operands::Link,
     .options = "-t,--target-directory=T -S,--suffix= -s,--symbolic -f,--force -n,--no-dereference "
                "-r,--relative -v -i -b -T -L -P -d -F"},
    {.names = "touch",
     .operands = Operands::Write,
     .options = "-d,--date= -t= -r,--reference=< -a -m -c,--no-create -h --time="},
    {.names = "mkdir mkfifo mknod",
     .operands = Operands::Write,
     .options = "-m,--mode= -p,--parents -v,--verbose -Z --context=?"},
    {.names = "tee",
     .operands = Operands::Write,
     .options = "-a,--append -i,--ignore-interrupts -p --output-error=?"},
    {.names = "truncate",
     .operands = Operands::Write,
     .options = "-s,--size= -r,--reference=< -c,--no-create -o,--io-blocks"},
    {.names = "chmod chown chgrp",
     .operands = Operands::ModeWrite,
     .options = "-R,--recursive:R --reference=~ --from= -v -c -f -h -H -L -P --preserve-root "
                "--no-preserve-root"},
    {.names = "dd", .operands = Operands::Special},
    {.names = "mkfs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mke2fs "
              "mkswap wipefs",
     .operands = Operands::Write,
     .options = "-t,--type= -L= -U= -b= -m= -E= -F -f -q -v"},
    {.names = "gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lzma",
     .operands = Operands::Replace,
     .options = "-S,--suffix= -k,--keep -c,--stdout,--to-stdout -d,--decompress,--uncompress "
                "-z,--compress -l,--list -t,--test -N,--name -n,--no-name -r,--recursive:R "
                "-T,--threads= -o=> -f -q -v --files,--files0,--filelist:! "
                "--output-dir-flat=> --output-dir-mirror=>"},
    {.names = "zip",
     .operands = Operands::WriteRead,
     .options = "-r:R -m:! -TT,--unzip-command=! -O,--out,--output-file=> -x= -i= -b= -n= -t= -P= "
                "-q -j -u -9"},

    {.names = "env",
     .operands = Operands::Special,
     .options = "-u,--unset= -C,--chdir= -S,--split-string=! -i,--ignore-environment -0,--null "
                "-v,--debug --block-signal=? --default-signal=? --ignore-signal=? "
                "--list-signal-handling --help --version"},
    {.names = "sudo",
     .operands = Operands::Special,
     .options = "-u,--user= -g,--group= -h,--host= -p,--prompt= -C,--close-from= -D,--chdir= "
                "-R,--chroot= -r,--role= -t,--type= -T,--command-timeout= -U,--other-user= "
                "-E,--preserve-env=? -H,--set-home -i,--login -s,--shell -n,--non-interactive "
                "-k,--reset-timestamp -K,--remove-timestamp -l,--list -v,--validate "
                "-A,--askpass -b,--background -e,--edit -S,--stdin -P,--preserve-groups "
                "-V,--version --help"},
    {.names = "doas", .operands = Operands::Special, .options = "-u= -C= -a= -n -s -L"},
    {.names = "pkexec",
     .operands = Operands::Special,
     .options = "-u,--user= --disable-internal-agent --keep-cwd --version"},
    {.names = "su",
     .operands = Operands::Special,
     .options = "-c,--command=c -s,--shell= -g,--group= -G,--supp-group= "
                "-w,--whitelist-environment= -l,--login -m,-p,--preserve-environment -P,--pty -f "
                "--session-command=c"},
    {.names = "xargs",
     .operands = Operands::Special,
     .options = "-I=r -J=r -a,--arg-file=< -n,--max-args=a -P,--max-procs= -L=a -d,--delimiter= "
                "-E= -s,--max-chars= -R= -S= -i,--replace=? -l,--max-lines=? -e,--eof=? "
                "-0,--null -r,--no-run-if-empty -t,--verbose -p,--interactive -x,--exit "
                "-o,--open-tty --process-slot-var= --show-limits"},
    {.names = "parallel",
     .operands = Operands::Special,
     .options = "-j,-P,--jobs,--max-procs= -I=r -i:? -U=! -n,--max-args= -N,--max-replace-args= "
                "-L= -d,--delimiter= -C,--colsep= -s,--max-chars= -E= "
                "-a,--arg-file=< -S,--sshlogin=! --results=> --joblog=> --tmpdir= --halt= "
                "--delay= --timeout= --load= --memfree= --nice= --retries= --env= "
                "--shuf --resume --resume-failed -k,--keep-order -u,--ungroup -v,--verbose "
                "-t --bar --eta --progress --dry-run --will-cite --citation --no-notice "
                "--group --tag --line-buffer,--linebuffer,--lb --silent --no-run-if-empty -r "
                "-X -m,--xargs -q,--quote -0,--null --link --version --help "
                "--pipe:! --shebang:!"},
    {.names = "watch",
     .operands = Operands::Special,
     .options =
         "-n,--interval= -d,--differences=? -t,--no-title -b,--beep -e,--errexit -g,--chgexit "
         "-c,--color -C,--no-color -x,--exec -p,--precise -w,--no-wrap -r,--no-rerun "
         "-q,--equexit= --shotsdir=>"},
    {.names = "flock",
     .operands = Operands::Special,
     .options = "-w,--wait,--timeout= -E,--conflict-exit-code= -c,--command=c -s,--shared "
                "-x,-e,--exclusive -n,--nonblock -u,--unlock -o,--close -F,--no-fork --verbose"},
    {.names = "exec", .operands = Operands::Special, .options = "-a= -c -l"},
    {.names = "command builtin", .operands = Operands::Special, .options = "-p -v:N -V:N"},
    {.names = "jobs", .operands = Operands::Special, .options = "-l -n -p -r -s -x"},
    {.names = "sed",
     .operands = Operands::Special,
     .options = "-e,--expression=s -f,--file=f -i,--in-place=? -l,--line-length= "
                "-n,--quiet,--silent -E,-r,--regexp-extended -s,--separate -u -z --posix --debug "
                "--follow-symlinks --sandbox"},
    {.names = "awk gawk mawk nawk",
     .operands = Operands::Special,
     .options = "-f,--file=f -E,--exec=f -F,--field-separator= -v,--assign= -i,--include=! "
                "-l,--load=! -W=! -e,--source=s -o,--pretty-print=? -p,--profile=? "
                "-d,--dump-variables=? -D,--debug=?"},
    {.names = "tar",
     .operands = Operands::Special,
     .options = "-f,--file= -C,--directory= -I,--use-compress-program=! --to-command=! "
                "--checkpoint-action=! -F,--info-script,--new-volume-script=! --rsh-command=! "
                "--rmt-command=! -T,--files-from=< --add-file=< -X,--exclude-from=< --exclude= "
                "-g,--listed-incremental=> --index-file=> --transform,--xform= "
                "--strip-components= --owner= --group= --mode= --mtime= -b,--blocking-factor= "
                "-N,--newer,--after-date= -K,--starting-file= -L,--tape-length= -V,--label= "
                "--suffix= --backup=? --one-top-level=? --checkpoint=? --sort= --format= -H= "
                "--occurrence=? -c,--create -x,--extract,--get -t,--list -r,--append -u,--update "
                "-A,--catenate --delete --diff,--compare -d -z -j -J -a -v -p -k -m -h "
                "-P,--absolute-names --remove-files"},
    {.names = "unzip",
     .operands = Operands::Special,
     .options = "-d= -x= -P= -O= -I= -l -t -p -v -Z -z -q -o -n -j -a -u -f"},
    {.names = "patch",
     .operands = Operands::Special,
     .options = "-d,--directory= -i,--input=< -o,--output=> -r,--reject-file=> -p,--strip= "
                "-B,--prefix,-Y,--basename-prefix=> -D= -F= -V= -z= -g,--get=! -R -N -s -f -E -b "
                "--dry-run"},
    {.names = "mktemp",
     .operands = Operands::Special,
     .options = "-p,--tmpdir= -d -q -u -t --suffix="},
    {.names = "curl",
     .operands = Operands::Special,
     .options = "-o,--output=o -O,--remote-name --remote-name-all -J,--remote-header-name "
                "--output-dir= -d,--data,--data-ascii,--data-binary,--json=d --data-urlencode=e "
                "--data-raw= -F,--form=m --form-string= -T,--upload-file=t "
                "-x,--proxy,--preproxy,--socks4,--socks4a,--socks5,--socks5-hostname,--proxy1.0=@ "
                "--url=@ --doh-url=@ -K,--config=C -c,--cookie-jar=> -b,--cookie=b "
                "-D,--dump-header=> --trace,--trace-ascii=> --stderr=> --libcurl=> --etag-save=> "
                "--hsts=> --alt-svc=> "
                "--cacert,--capath,--cert,-E,--key,--netrc-file,--crlfile,--etag-compare=< "
                "--connect-to,--resolve=h -u,--user= -U,--proxy-user= -H,--header,--proxy-header=d "
                "-A,--user-agent= -e,--referer= -X,--request= -m,--max-time= --connect-timeout= "
                "-w,--write-out= --retry= --retry-delay= --retry-max-time= -r,--range= "
                "-C,--continue-at= -y= -Y= -z,--time-cond= --limit-rate= --max-filesize= "
                "--max-redirs= --interface= --local-port= --unix-socket,--abstract-unix-socket=u "
                "-t,--telnet-option= -Q,--quote= -P,--ftp-port= --ciphers= --tls-max= --engine=! "
                "--dns-servers= --oauth2-bearer= --aws-sigv4= --variable=v --expand-url=h --rate= "
                "--parallel-max= --noproxy= --cert-type= --key-type= --pass= --pinnedpubkey= "
                "--proto= --proto-default= --keepalive-time= --speed-limit= --speed-time= "
                "-V,--version:N -h,--help:N -L -s -S -f -k -i -I -v -g -G -n -N -q -R -Z -# "
                "--compressed --http1.1 --http2 --fail-with-body -j -l -a -B -p -0 -1 -2 -3 -4 "
                "-6"},
    {.names = "wget",
     .operands = Operands::Special,
     .options = "-O,--output-document=> -o,--output-file=> -a,--append-output=> "
                "-P,--directory-prefix= -i,--input-file=< --post-file,--body-file=< "
                "-e,--execute=C --config=C --use-askpass=! --load-cookies=< --save-cookies=> "
                "--ca-certificate,--certificate,--private-key,--crl-file=< --warc-file=> "
                "--rejected-log=> --hsts-file=> -B,--base= -t,--tries= -T,--timeout= -w,--wait= "
                "-U,--user-agent= --header= --user= --password= -Q,--quota= -l,--level= "
                "-A,--accept= -R,--reject= -D,--domains= -I= -X= --post-data= --body-data= "
                "--method= --referer= --limit-rate= --bind-address= --dns-timeout= "
                "--connect-timeout= --read-timeout= --waitretry= --max-redirect= --progress= "
                "--cut-dirs= -r,--recursive:R -m,--mirror:R -p,--page-requisites:R "
                "-x,--force-directories:R --default-page= "
                "-V,--version:N -h,--help:N -q -nv -c -N -nc -nd,--no-directories "
                "-nH,--no-host-directories --protocol-directories -S -v -b --spider "
                "--no-check-certificate --content-disposition:R -E -k -K -np -H -L -4 -6"},
    {.names = "ssh",
     .operands = Operands::Special,
     .options = "-b= -c= -D= -E=> -e= -F=! -I=! -i=< -J=@ -L= -l= -m= -O= -o=! -p= -Q= -R= -S= "
                "-W= -w= -B= -P= -X= -s -t -T -v -q -N -f -n -A -a -C -g -K -k -M -x -Y -y -4 -6 "
                "-V:N"},
    {.names = "scp sftp",
     .operands = Operands::Special,
     .options = "-c= -F=! -i=< -J=@ -l= -o=! -P= -S=! -D=! -X= -b=< -B= -R= -s= -r:R -p -q -v -C "
                "-3 -4 -6 -A -O -T"},
    {.names = "rsync",
     .operands = Operands::Special,
     .options = "-e,--rsh=! --rsync-path=! --files-from=< --exclude-from=< --include-from=< "
                "--password-file=< --log-file=> --backup-dir,--partial-dir=> -T,--temp-dir=> "
                "--link-dest= --compare-dest= --copy-dest= -f,--filter= --exclude= --include= "
                "--bwlimit= --timeout= --port= --chmod= --chown= --max-size= --min-size= "
                "--suffix= --info= --debug= --out-format= -B= -M,--remote-option= "
                "--delete,--del,--delete-before,--delete-during,--delete-delay,--delete-after,--"
                "delete-excluded,--delete-missing-args:D "
                "--remove-source-files:S --write-batch=> --only-write-batch=> --read-batch=< "
                "--address= --sockopts= --config= --iconv= --skip-compress= --protocol= "
                "--modify-window= -a -v -z -r -n -u -P -h -i -c -b -l -L -p -t -g -o -x -S -H -A "
                "-X -q --progress --stats --dry-run"},
    {.names = "nc ncat netcat",
     .operands = Operands::Special,
     .options = "-e,--exec=! -c,--sh-exec=! --lua-exec=! -X= -x,--proxy=@ -p,--source-port= "
                "-s,--source= -w,--wait= -i,--idle-timeout= -q= -I= -O= -T= -V= -P= -m= -M= "
                "-o,--output=> -l,--listen -k -u -v -z -n -4 -6 -U -t -d"},
    {.names = "git",
     .operands = Operands::Special,
     .options = "-C= -c=C --config-env=C --exec-path=C --git-dir= --work-tree= --namespace= "
                "--super-prefix= --attr-source= -p,--paginate --no-pager -P --bare "
                "--no-replace-objects --no-optional-locks --literal-pathspecs --glob-pathspecs "
                "--noglob-pathspecs --icase-pathspecs --html-path:N --man-path:N --info-path:N "
                "-v,--version:N -h,--help:N"},
    {.names = "telnet", .operands = Operands::Special, .options = "-b= -e= -k= -l= -n=> -S= -X="},
    {.names = "ftp", .operands = Operands::Special, .options = "-N=< -o=> -P= -q= -r= -s= -T= -u="},
    {.names = "ping ping6 traceroute host nslookup dig whois",
     .operands = Operands::Hosts,
     .options = "-c= -i= -W= -w= -t= -p= -q= -x= -b= -k= -f=< -I= -s= -l= -m="},

    {.names = "npm pnpm yarn bun pip uv cargo go gem apt apt-get brew bundle composer",
     .operands = Operands::Packages,
     .options =
         "--prefix= -C,--dir,--cwd= -w,--workspace= --manifest-path= -F,--filter= --registry= "
         "--project= --directory= --color= --config= --toolchain= -o= -t= -v,--version --python= "
         "--browser= --json --depth= --all -a --long --parseable --global -g --outdated --uptodate "
         "--format= --format-version= --no-deps --omit= --include= --prod --production --dev "
         "--workspaces --offline --locked --frozen --features= --all-features "
         "--no-default-features --target= --invert= -i= --edges= -e= --limit= --index-url= "
         "--verbose -q,--quiet --help --user --local --not-required --exclude= --path= --pre "
         "--no-index --files --no-cache --no-color --installed --versions --upgradable "
         "--manual-installed --disable-pip-version-check --no-input --only= --recursive "
         "--silent --no-fund --no-audit --package-lock-only --charset= --duplicates --workspace"},
    {.names = "npx uvx pipx bunx", .operands = Operands::Packages},

    {.names = "nohup setsid",
     .operands = Operands::Wrapper,
     .options = "-c,--ctty -f,--fork -w,--wait"},
    {.names = "nice", .operands = Operands::Wrapper, .options = "-n,--adjustment="},
    {.names = "ionice",
     .operands = Operands::Wrapper,
     .options = "-c,--class= -n,--classdata= -p,--pid= -P= -u= -t,--ignore"},
    {.names = "timeout",
     .operands = Operands::Wrapper,
     .options = "-k,--kill-after= -s,--signal= --preserve-status --foreground -v,--verbose",
     .skip = 1},
    {.names = "time",
     .operands = Operands::Wrapper,
     .options = "-f,--format= -o,--output=> -a,--append -p,--portability -v,--verbose -q,--quiet"},
    {.names = "stdbuf",
     .operands = Operands::Wrapper,
     .options = "-i,--input= -o,--output= -e,--error="},
    {.names = "busybox", .operands = Operands::Wrapper},
    {.names = "chroot",
     .operands = Operands::Wrapper,
     .options = "--groups= --userspec= --skip-chdir",
     .skip = 1},
    {.names = "strace",
     .operands = Operands::Wrapper,
     .options = "-o,--output=o -e= -p,--attach= -s= -S= -a= -b= -E,--env=! -I= -O= -P= -u,--user= "
                "-U= -X= -f -ff "
                "-t -tt -T -v -x -y -c -C -q"},

    {.names = "sh bash dash zsh ksh ash",
     .operands = Operands::Shell,
     .options = "-o,+o,-O,+O= --rcfile,--init-file=!"},
    {.names = "python",
     .operands = Operands::Interpreter,
     .options = "-c=c -m= -W= -X= -V,--version:N -h,--help:N --check-hash-based-pycs= -i:!"},
    {.names = "perl",
     .operands = Operands::Interpreter,
     .options = "-e=c -E=c -n -p -i=? -I= -M=! -m=! -F= -l=? -0=? -C=? -x=? -d=? -D=? "
                "-v,--version:N -c -w -T -s -S -a"},
    {.names = "ruby",
     .operands = Operands::Interpreter,
     .options = "-e=c -r=! -I= -E= -C= -F= -K= -T= -x= -v,--version:N -n -p -a -l -c -w -s -S"},
    {.names = "node nodejs",
     .operands = Operands::Interpreter,
     .options = "-e,--eval=c -p,--print=c -r,--require=! --import=! "
                "--loader,--experimental-loader=! -v,--version:N "
                "-h,--help:N -C,--conditions= --env-file=C --input-type= -c,--check "
                "-i,--interactive --test"},
    {.names = "php",
     .operands = Operands::Interpreter,
     .options = "-r=c -B=c -R=c -E=c -F=! -d=C -c=C -f= -z=! -t= -S= -v,--version:N -i -l -m -n"},
    {.names = "lua luajit deno tclsh expect osascript Rscript fish pwsh powershell elixir julia "
              "gdb ed ex vim vi nvim emacs",
     .operands = Operands::Interpreter,
     .options = "-e,-E,--eval,--command=c -c=c -l=! -i -v,--version:N"},
});

constexpr auto kSubcommands = std::to_array<Subcommand>({
    // git: reading, changing, losing work, sending.
    {"git",
     "status ls-files ls-tree rev-parse describe shortlog cat-file rev-list "
     "for-each-ref show-ref name-rev merge-base count-objects "
     "check-ignore check-attr cherry var version help range-diff fsck verify-commit "
     "verify-tag get-tar-commit-id column show-branch merge-tree patch-id check-ref-format",
     "fs.read",
     "--output=> -O,--open-files-in-pager:! --ext-diff:C --textconv:C -n= -G= -S= -L= --format= "
     "--pretty= "
     "-U,--unified= --since= --until= --author= --grep= -e=~ -f=~ -A= -B= -C= --no-index "
     "--contents,--ignore-revs-file=<"},
    {"git", "log show whatchanged", "fs.read",
     "--output=> -O:! --ext-diff:C --textconv:C -n,--max-count= --skip= -G= -S= -L= --format= "
     "--pretty=? -U,--unified=? --since,--after= --until,--before= --author= --committer= --grep= "
     "--date= --diff-filter= --no-index"},
    {"git", "diff diff-tree diff-files diff-index", "fs.read",
     "--output=> -O:! --ext-diff:C --textconv:C -G= -S= -U,--unified=? --diff-filter= --no-index"},
    {"git", "blame annotate", "fs.read",
     "-L= -S,--contents,--ignore-revs-file=< --ignore-rev= --since= --date= --abbrev=? "
     "--textconv:C"},
    {"git", "grep", "fs.read",
     "-O,--open-files-in-pager:! --textconv:C -e=~ -f=~ -A,--after-context= -B,--before-context= "
     "-C,--context= -m,--max-count= --max-depth= --threads= --parent-basename= --no-index"},
    {"git",
     "add commit merge stash switch checkout cherry-pick revert tag branch init mv rm notes "
     "apply am "
     "remote worktree submodule update-index reset gc prune pack-refs update-ref "
     "symbolic-ref replace "
     "bisect reflog repack rerere sparse-checkout write-tree commit-tree diagnose "
     "hash-object mktag "
     "mktree checkout-index prune-packed unpack-objects index-pack pack-objects "
     "commit-graph multi-pack-index stage bundle archive format-patch clean restore",
     "git.write",
     "-m,--message= -F,--file=< -C,--reuse-message= -c,--reedit-message= -t,--template=< --author= "
     "--date= "
     "--exec=C -s,--strategy= -X,--strategy-option= -b= -B= --onto= -u,--set-upstream-to= "
     "--pathspec-from-file=< "
     "-o,--output,--output-directory=> -e,--exclude= --fixup= --squash= --cleanup= --gpg-sign=? "
     "-S=? --orphan= --source= "
     "-U,--unified= --format= --prefix= --remote=@ --upload-pack=C --template=C "
     "--separate-git-dir= --directory="},
    {"git", "rebase", "git.write",
     "-x,--exec=C -s,--strategy= -X,--strategy-option= --onto= -C= --whitespace= --empty= "
     "--gpg-sign=? -S=? -m,--merge -i,--interactive --no-verify"},
    {"git", "read-tree", "git.write", "--index-output=> --prefix= --exclude-per-directory="},
    {"git", "maintenance", "git.write", "--config-file=> --schedule= --task= --scheduler="},
    {"git", "merge-file", "git.write",
     "-L= --marker-size= --diff-algorithm= -p,--stdout -q,--quiet"},
    {"git", "config", "git.write",
     "--global --system --local --worktree -f,--file=< --blob= --get --get-all --get-regexp "
     "--get-urlmatch --replace-all --add --unset --unset-all --rename-section --remove-section "
     "-l,--list -e,--edit --get-color --get-colorbool -z,--null --name-only --show-origin "
     "--show-scope -t,--type= --bool --int --bool-or-int --bool-or-str --path --expiry-date "
     "--no-type --includes --no-includes --default= --comment= --fixed-value --all --regexp "
     "--value= --url= --append",
     true},
    {"git", "push", "git.push",
     "-f,--force --force-with-lease=? --force-if-includes --no-force-if-includes --mirror "
     "-d,--delete --all --branches "
     "--tags --follow-tags --atomic -u,--set-upstream -n,--dry-run --prune --receive-pack,--exec=C "
     "-q,--quiet -v,--verbose "
     "--progress --no-verify --verify --repo= -o,--push-option= --recurse-submodules= "
     "--no-recurse-submodules "
     "--signed=? --no-signed --thin --no-thin --porcelain -4,--ipv4 -6,--ipv6",
     true},
    {"git", "fetch pull clone ls-remote fetch-pack remote-update", "network.request",
     "--upload-pack,--exec=C -u=C --depth= --deepen= --shallow-since= --shallow-exclude= "
     "-j,--jobs= "
     "-b,--branch= -o,--origin= "
     "--refmap= -c,--config=C --template=C --reference=< --reference-if-able=< "
     "--separate-git-dir=> --filter= "
     "--server-option= --recurse-submodules=? -s,--strategy= -X,--strategy-option= "
     "--negotiation-tip= --bundle-uri=@ "
     "-q -v -f -p -t -a -n --all --tags --prune --rebase=? --no-rebase --ff-only --bare --mirror "
     "--single-branch"},
    {"git", "send-email", "message.send"},
    {"git",
     "daemon http-backend instaweb gui citool gitk difftool mergetool filter-branch fast-import "
     "fast-export "
     "credential shell request-pull svn p4 cvsimport cvsserver http-push imap-send upload-pack "
     "receive-pack",
     "process.exec"},

    {"npm",
     "install,i,in,ins,inst,insta,instal,isnt,isnta,isntal,isntall,add "
     "ci,clean-install,cleanInstall,ic,install-clean,installClean,isntall-clean,isntallClean "
     "update,u,up,upgrade,udpate dedupe,ddp link,ln exec,x init,create,innit rebuild,rb "
     "install-test,installTest,it "
     "install-ci-test,installCiTest,cit,clean-install-test,cleanInstallTest,sit",
     "package.install"},
    {"npm", "publish unpublish deprecate undeprecate dist-tag,distTag,dist-tags,distTags",
     "package.publish"},
    {"npm",
     "ls,list ll,la view,info,show,v outdated explain,why search,s,se,find root prefix bin "
     "help,hlep fund ping whoami doctor completion docs query sbom",
     "none"},
    {"npm", "run,run-script,runScript,rum,urn test,tst,t uninstall,unlink,remove,rm,r,un config,c",
     "process.exec"},
    {"pnpm", "install,i add update,up,upgrade dlx exec create import link,ln fetch install-test,it",
     "package.install"},
    {"pnpm", "publish", "package.publish"},
    {"pnpm", "ls,list ll,la why outdated root bin help licenses", "none"},
    {"pnpm", "run,run-script test,tst,t remove,rm,uninstall,un,uni", "process.exec"},
    {"yarn", "install add up upgrade dlx create import link global upgrade-interactive",
     "package.install"},
    {"yarn", "publish", "package.publish"},
    {"yarn", "list info why outdated help versions", "none"},
    {"bun", "install,i add,a update link create x", "package.install"},
    {"bun", "publish", "package.publish"},
    {"bun", "outdated help", "none"},
    {"pip", "install download wheel", "package.install"},
    {"pip", "list show freeze check search index help inspect debug", "none"},
    {"uv", "add sync tool lock pip venv python", "package.install"},
    {"uv", "publish", "package.publish"},
    {"uv", "tree version help", "none"},
    {"cargo", "install add update fetch binstall vendor generate-lockfile", "package.install"},
    {"cargo", "publish yank owner", "package.publish"},
    {"cargo", "tree metadata search version help info locate-project pkgid read-manifest", "none"},
    {"go", "get install mod work", "package.install"},
    {"go", "version list doc help", "none"},
    {"gem", "install update", "package.install"},
    {"gem", "push yank", "package.publish"},
    {"gem", "list search info help which environment contents", "none"},
    {"apt", "install upgrade full-upgrade dist-upgrade update build-dep reinstall source download",
     "package.install"},
    {"apt", "list show search policy depends rdepends help changelog", "none"},
    {"brew", "install upgrade reinstall tap bundle update fetch", "package.install"},
    {"brew", "list ls info search deps uses outdated doctor help config desc leaves", "none"},
    {"bundle", "install update add exec", "package.install"},
    {"bundle", "help", "none"},  // every other word runs the Gemfile
    {"composer", "install require update create-project global", "package.install"},
    {"composer", "show search info outdated help licenses", "none"},
});

struct Alias {
  std::string_view name;
  std::string_view program;
};
constexpr auto kAliases = std::to_array<Alias>({{"python2", "python"},
                                                {"python3", "python"},
                                                {"pypy", "python"},
                                                {"pypy3", "python"},
                                                {"pip2", "pip"},
                                                {"pip3", "pip"},
                                                {"apt-get", "apt"},
                                                {"apt-cache", "apt"},
                                                {"nodejs", "node"},
                                                {"gsed", "sed"},
                                                {"gtar", "tar"},
                                                {"ggrep", "grep"},
                                                {"bsdtar", "tar"},
                                                {"rbash", "bash"},
                                                {"perl5", "perl"}});

constexpr auto kHarmless = std::to_array<std::string_view>({"NODE_ENV",       "CI",
                                                            "LANG",           "LANGUAGE",
                                                            "LC_*",           "TZ",
                                                            "NO_COLOR",       "FORCE_COLOR",
                                                            "CLICOLOR",       "CLICOLOR_FORCE",
                                                            "TERM",           "COLORTERM",
                                                            "COLUMNS",        "LINES",
                                                            "DEBUG",          "VERBOSE",
                                                            "RUST_BACKTRACE", "RUST_LOG",
                                                            "LOG_LEVEL",      "DEBIAN_FRONTEND",
                                                            "PORT",           "V"});

constexpr auto kSteering = std::to_array<std::string_view>({"PATH",
                                                            "IFS",
                                                            "LD_*",
                                                            "DYLD_*",
                                                            "GIT_*",
                                                            "PROMPT_COMMAND",
                                                            "NODE_OPTIONS",
                                                            "NODE_PATH",
                                                            "NODE_EXTRA_*",
                                                            "PYTHON*",
                                                            "PYTEST_*",
                                                            "HOME",
                                                            "ENV",
                                                            "BASH*",
                                                            "SHELLOPTS",
                                                            "PS0",
                                                            "PS1",
                                                            "PS2",
                                                            "PS3",
                                                            "PS4",
                                                            "CDPATH",
                                                            "GLOBIGNORE",
                                                            "EXECIGNORE",
                                                            "FIGNORE",
                                                            "PERL*",
                                                            "RUBY*",
                                                            "GEM_*",
                                                            "BUNDLE_*",
                                                            "JAVA_*",
                                                            "_JAVA_*",
                                                            "JDK_*",
                                                            "MAVEN_*",
                                                            "GRADLE_*",
                                                            "CLASSPATH",
                                                            "EDITOR",
                                                            "VISUAL",
                                                            "PAGER",
                                                            "MANPAGER",
                                                            "LESS*",
                                                            "SSH_*",
                                                            "SHELL",
                                                            "BROWSER",
                                                            "RUSTC*",
                                                            "RUSTFLAGS",
                                                            "RUSTDOC*",
                                                            "CARGO_*",
                                                            "GO*",
                                                            "CC",
                                                            "CXX",
                                                            "CPP",
                                                            "LD",
                                                            "AR",
                                                            "AS",
                                                            "MAKE*",
                                                            "MFLAGS",
                                                            "CMAKE_*",
                                                            "CFLAGS",
                                                            "CXXFLAGS",
                                                            "LDFLAGS",
                                                            "npm_*",
                                                            "NPM_*",
                                                            "YARN_*",
                                                            "PIP_*",
                                                            "UV_*",
                                                            "XDG_*",
                                                            "HTTP_PROXY",
                                                            "HTTPS_PROXY",
                                                            "ALL_PROXY",
                                                            "FTP_PROXY",
                                                            "http_proxy",
                                                            "https_proxy",
                                                            "all_proxy",
                                                            "ftp_proxy",
                                                            "CURL_*",
                                                            "WGETRC",
                                                            "TAR_OPTIONS",
                                                            "GREP_OPTIONS",
                                                            "GZIP",
                                                            "BZIP2",
                                                            "XZ_*",
                                                            "ZIP",
                                                            "ZIPOPT",
                                                            "UNZIP",
                                                            "UNZIPOPT",
                                                            "TAPE",
                                                            "TAR_RSH",
                                                            "PARALLEL",
                                                            "SSLKEYLOGFILE",
                                                            "RSYNC_*",
                                                            "TMPDIR",
                                                            "PWD",
                                                            "OLDPWD",
                                                            "POSIXLY_CORRECT",
                                                            "ZDOTDIR",
                                                            "LOCPATH",
                                                            "NLSPATH",
                                                            "GCONV_PATH",
                                                            "HOSTALIASES",
                                                            "RES_OPTIONS",
                                                            "OPENSSL_*",
                                                            "TERMINFO*",
                                                            "TERMCAP",
                                                            "DOCKER_*",
                                                            "KUBECONFIG",
                                                            "INPUTRC",
                                                            "HIST*",
                                                            "MAIL*",
                                                            "TEXTDOMAIN*",
                                                            "SUDO_*",
                                                            "ASAN_*",
                                                            "UBSAN_*",
                                                            "LUA_*",
                                                            "PHP*",
                                                            "R_*",
                                                            "SYSTEMD_*",
                                                            "FCEDIT",
                                                            "fpath",
                                                            "cdpath",
                                                            "KRB5*",
                                                            "AWS_CONFIG_FILE",
                                                            "PROMPT_DIRTRIM",
                                                            "COMP_*",
                                                            "BASHPID",
                                                            "MALLOC_*",
                                                            "GLIBC_*",
                                                            "NIX_*",
                                                            "RIPGREP_*",
                                                            "GREP_COLOR*",
                                                            "GREP"});

bool is_in(std::span<const std::string_view> patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](std::string_view pattern) {
    if (!pattern.ends_with('*')) return pattern == name;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
  });
}

template <class Each>
void each_word(std::string_view text, char separator, const Each& each) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.size(), text.find(separator));
    if (end > 0) each(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
  }
}

struct KnownSubcommand {
  const Subcommand* row = nullptr;
  std::string_view name;  // the first of its spellings
};

KnownSubcommand known_subcommand(std::string_view program, std::string_view name) {
  using Key = std::pair<std::string_view, std::string_view>;
  static const std::map<Key, KnownSubcommand> kByName = [] {
    std::map<Key, KnownSubcommand> out;
    for (const Subcommand& row : kSubcommands) {
      each_word(row.names, ' ', [&](std::string_view spellings) {
        const std::string_view first = spellings.substr(0, spellings.find(','));
        each_word(spellings, ',', [&](std::string_view alias) {
          out.emplace(Key(row.program, alias), KnownSubcommand{&row, first});
        });
      });
    }
    return out;
  }();
  const Key key(program_alias(program), name);
  const auto found = kByName.lower_bound(key);
  const KnownSubcommand unknown{.name = name};
  if (found == kByName.end()) return unknown;
  if (found->first == key) return found->second;
  // An abbreviation has the effects of the full name, but never counts as harmless.
  const auto& [other, spelling] = found->first;
  const bool begins = other == key.first && begins_subcommand(other, name, spelling);
  const Subcommand& row = *found->second.row;
  return begins && row.effect_class != "none" ? KnownSubcommand{&row, name} : unknown;
}

std::vector<Option> read_option_groups(std::string_view options) {
  std::vector<Option> out;
  each_word(options, ' ', [&](std::string_view group) {
    Option option;
    const std::size_t end = std::min(group.size(), group.find_first_of("=:"));
    if (end < group.size()) {
      option.takes_value = group[end] == '=';
      if (end + 1 < group.size()) option.meaning = group[end + 1];
      if (option.meaning == '?') option.takes_value = false;
    }
    each_word(group.substr(0, end), ',',
              [&](std::string_view spelling) { option.spellings.push_back(spelling); });
    out.push_back(std::move(option));
  });
  return out;
}

}  // namespace

std::span<const Program> programs() {
  return kPrograms;
}

std::span<const Subcommand> subcommands() {
  return kSubcommands;
}

std::string_view program_alias(std::string_view name) {
  // Called for each rule that names a command. Most names do not begin like an alias.
  static constexpr std::array<bool, 256> kFirst = [] {
    std::array<bool, 256> letters{};
    for (const Alias& alias : kAliases) letters[static_cast<unsigned char>(alias.name[0])] = true;
    for (const char c : {'p', 'm'}) letters[static_cast<unsigned char>(c)] = true;
    return letters;
  }();
  if (name.empty() || !kFirst[static_cast<unsigned char>(name[0])]) return name;
  const auto* const alias = std::ranges::find(kAliases, name, &Alias::name);
  if (alias != kAliases.end()) return alias->program;
  // `python3.11`, `mkfs.anything`.
  if (name.starts_with("python3.") || name.starts_with("python2.")) return "python";
  if (name.starts_with("pip3.")) return "pip";
  if (name.starts_with("mkfs.")) return "mkfs";
  return name;
}

const Program* find_program(std::string_view name) {
  static const std::unordered_map<std::string_view, const Program*> kByName = [] {
    std::unordered_map<std::string_view, const Program*> out;
    for (const Program& program : kPrograms) {
      each_word(program.names, ' ', [&](std::string_view alias) { out.emplace(alias, &program); });
    }
    return out;
  }();
  const auto found = kByName.find(program_alias(name));
  return found == kByName.end() ? nullptr : found->second;
}

bool begins_subcommand(std::string_view program, std::string_view beginning,
                       std::string_view name) {
  return program == "npm" && !beginning.empty() && name.starts_with(beginning);
}

const Subcommand* find_subcommand(std::string_view program, std::string_view name) {
  return known_subcommand(program, name).row;
}

std::string_view subcommand_alias(std::string_view program, std::string_view name) {
  return known_subcommand(program, name).name;
}

const std::vector<Option>& options_of(std::string_view options) {
  // One entry for each row, made before first use. Rows are constants, so their address is the key.
  static const std::unordered_map<const char*, std::vector<Option>> kByRow = [] {
    std::unordered_map<const char*, std::vector<Option>> out;
    for (const Program& row : kPrograms)
      out.emplace(row.options.data(), read_option_groups(row.options));
    for (const Subcommand& row : kSubcommands)
      out.emplace(row.options.data(), read_option_groups(row.options));
    return out;
  }();
  static const std::vector<Option> kNone;
  const auto found = kByRow.find(options.data());
  return options.empty() || found == kByRow.end() ? kNone : found->second;
}

const Option* find_option(const std::vector<Option>& options, std::string_view spelling) {
  const Option* abbreviated = nullptr;
  for (const Option& option : options) {
    for (const std::string_view known : option.spellings) {
      if (known == spelling) return &option;
      const bool prefix =
          spelling.starts_with("--") && spelling.size() > 2 && known.starts_with(spelling);
      // If several options fit, one with a meaning wins.
      if (prefix && (abbreviated == nullptr || abbreviated->meaning == ' ')) abbreviated = &option;
    }
  }
  return abbreviated;
}

bool is_harmless_variable(std::string_view name) {
  return is_in(kHarmless, name);
}

bool is_arithmetic_variable(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"OPTIND", "RANDOM", "SRANDOM", "SECONDS", "LINENO",
                                       "HISTCMD", "EPOCHSECONDS", "EPOCHREALTIME"});
  return is_in(kNames, name);
}

bool steers_programs(std::string_view name) {
  return is_in(kSteering, name);
}

std::string_view name_of(Operands operands) {
  constexpr auto kNames = std::to_array<std::string_view>(
      {"none", "read", "read_here", "pattern_read", "write", "mode_write", "delete", "replace",
       "copy", "move", "link", "read_write", "write_read", "hosts", "special", "wrapper",
       "packages", "shell", "interpreter"});
  static_assert(kNames.size() == static_cast<std::size_t>(Operands::Interpreter) + 1);
  return kNames[static_cast<std::size_t>(operands)];
}

}  // namespace sallyport::effects
