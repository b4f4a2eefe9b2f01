// Ways out of the roots that a hostile agent would try. `{OUT}` is a folder outside with a file
// `secret`, `{DATA}` the data folder, `{ROOT}` the root, `{PORT}` a TCP port with a listener.
#pragma once

#include <string>

namespace sallyport::agent {

// A path given to a file tool.
struct PathAttempt {
  const char* what;
  const char* path;
};

inline constexpr PathAttempt kPathAttempts[] = {
    {"the folder above", ".."},
    {"a file beside the root", "../outside/secret"},
    {"up from below", "sub/../../outside/secret"},
    {"up through empty and dot components", ".//./sub//.././..//outside/secret"},
    {"an absolute path", "{OUT}/secret"},
    {"an absolute path with two slashes", "/{OUT}/secret"},
    {"an absolute path through the root", "{ROOT}/../outside/secret"},
    {"a sibling whose name begins like the root", "{ROOT}2/secret"},
    {"a link to a folder outside", "link/secret"},
    {"a link to a file outside", "file-link"},
    {"a relative link outside", "relative-link/secret"},
    {"a chain of links", "chain/secret"},
    {"a link through a folder below and up", "sub/up/outside/secret"},
    {"a link to the data folder", "data-link/ledger.db"},
    {"the data folder", "{DATA}/ledger.db"},
    {"the root of this process", "/proc/self/root{OUT}/secret"},
    {"the folder of this process", "/proc/self/cwd/../../../../../..{OUT}/secret"},
    {"a descriptor of this process", "/proc/self/fd/0"},
    {"the variables of this process", "/proc/self/environ"},
    {"a link into /proc", "proc-link/self/environ"},
    {"a magic link below the root", "proc-link/self/root{OUT}/secret"},
    {"a device", "/dev/zero"},
    {"a link to a device", "device-link"},
    {"standard input", "/dev/stdin"},
    {"a pipe", "pipe"},
    {"a socket", "socket"},
    {"a loop of links", "loop/secret"},
    {"a link that leads to nothing outside", "dangling"},
    {"a file used as a folder", "file/../../outside/secret"},
    {"the passwords", "/etc/shadow"},
    {"a path that hides dots", "%2e%2e/outside/secret"},
    {"a path in the way of Windows", "..\\outside\\secret"},
    {"the home of an account", "~/secret"},
    {"the parent as a trailing component", "sub/../.."},
};

// A command given to `shell`. It prints `ESCAPED`, or the secret, or changes something outside.
struct CommandAttempt {
  const char* what;
  const char* command;
  // False: it may fail without a sandbox too (another kernel, no root), or is too dangerous to run.
  bool works_outside = true;
};

// A system call by number: any result except EPERM and ENOSYS is a way in.
#define SALLYPORT_TRY_CALL(arguments)                                     \
  "python3 -c \"import ctypes,errno; l=ctypes.CDLL(None,use_errno=True);" \
  "r=l.syscall(" arguments                                                \
  "); e=ctypes.get_errno();"                                              \
  "print('ESC'+'APED' if r>=0 or e not in (errno.EPERM,errno.ENOSYS) else 'refused')\""

inline constexpr CommandAttempt kCommandAttempts[] = {
    // Reading.
    {"an absolute path", "cat {OUT}/secret"},
    {"the folder above", "cat ../outside/secret"},
    {"a folder entered first", "cd {OUT} && cat secret"},
    {"a link made for it", "ln -s {OUT} l; cat l/secret"},
    {"a hard link made for it", "ln {OUT}/secret h && cat h"},
    {"the root of the process", "cat /proc/self/root{OUT}/secret"},
    {"the folder of the process", "cat /proc/self/cwd/../outside/secret"},
    {"the root of the runtime", "cat /proc/$PPID/root{OUT}/secret"},
    {"a handle opened for nothing",
     "python3 -c \"import os; f=os.open('{OUT}/secret',os.O_PATH);"
     "print(open('/proc/self/fd/%d'%f).read())\""},
    {"a folder handle",
     "python3 -c \"import os; f=os.open('{OUT}',os.O_PATH);"
     "print(os.read(os.open('secret',os.O_RDONLY,dir_fd=f),99))\""},
    {"an archive", "tar cf - -C {OUT} secret | tar xf - -O"},
    {"a search", "find {OUT} -name secret -exec cat {} +"},
    {"a copy", "cp -r {OUT} copy && cat copy/secret"},
    {"a redirection", "read line < {OUT}/secret; echo $line"},
    {"a list of names", "ls {OUT} | grep -q secret && echo ESC''APED"},
    {"the data folder", "cat {DATA}/ledger.db"},
    {"a copy of the data folder", "cp -r {DATA} copy && cat copy/ledger.db"},
    {"the passwords", "head -c 1 /etc/shadow > /dev/null && echo ESC''APED", false},
    {"a link that is swapped",
     "ln -s . l; (i=0; while [ $i -lt 300 ]; do ln -sfn {OUT} l; ln -sfn . l; i=$((i+1)); done) & "
     "j=0; while [ $j -lt 300 ]; do cat l/secret 2>/dev/null; j=$((j+1)); done; wait"},
    // Through other shells and variables.
    {"a shell in a shell", "sh -c \"sh -c 'cat {OUT}/secret'\""},
    {"another shell", "bash -c 'cat {OUT}/secret'"},
    {"a text that is decoded",
     "printf 'cat {OUT}/secret' | od -An -tx1 | tr -d ' \\n' > x; "
     "python3 -c \"import os; os.system(bytes.fromhex(open('x').read()).decode())\""},
    {"a start file of the shell", "echo 'cat {OUT}/secret' > e; BASH_ENV=./e bash -c true"},
    {"a field separator", "p='{OUT}:secret'; IFS=:; set -- $p; cat \"$1/$2\""},
    {"no variables at all", "env -i /bin/sh -c 'cat {OUT}/secret'"},
    {"a library that is loaded first", "LD_PRELOAD=/lib/none.so cat {OUT}/secret"},
    {"another folder of programs",
     "mkdir b; printf '#!/bin/sh\\nexec /bin/cat {OUT}/secret\\n' > b/ls; chmod +x b/ls; "
     "PATH=./b:$PATH ls"},
    {"the loader of programs",
     "$(ls /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.* 2>/dev/null | "
     "head -n 1) /bin/cat {OUT}/secret"},
    {"a program outside", "{OUT}/program"},
    {"a program in memory",
     "python3 -c \"import os; f=os.memfd_create('c',0); os.write(f,open('/bin/cat','rb').read());"
     "os.execve(f,['cat','{OUT}/secret'],{})\""},
    {"a descendant in a session of its own",
     "setsid sh -c 'cat {OUT}/secret > stolen' & sleep 0.3; cat stolen"},
    // Writing.
    {"a new file", "echo x > {OUT}/new"},
    {"more in a file", "echo x >> {OUT}/secret"},
    {"a file cut by name", "python3 -c \"import os; os.truncate('{OUT}/secret',0)\""},
    {"a file removed", "rm -f {OUT}/secret"},
    {"a file moved in", "mv {OUT}/secret . && cat secret"},
    {"a file moved out", "touch a; mv a {OUT}/a"},
    {"a link out", "touch a; ln a {OUT}/a"},
    {"a symbolic link out", "ln -s /etc {OUT}/l"},
    {"a folder made", "mkdir {OUT}/d"},
    {"a folder removed", "rmdir {OUT}/empty"},
    {"a pipe made", "mkfifo {OUT}/p"},
    {"a write through a link", "ln -s {OUT}/secret l; echo x > l"},
    {"the data folder written", "echo x > {DATA}/ledger.db"},
    {"the data folder extended", "touch {DATA}/agents.db"},
    {"the data folder moved", "mv {DATA} {DATA}2"},
    {"shared memory", "f=/dev/shm/sallyport-escape-$$; echo x > $f && echo ESC''APED; rm -f $f"},
    {"settings of the kernel",
     "python3 -c \"open('/proc/sys/kernel/core_pattern','a'); print('ESC'+'APED')\"", false},
    // Other processes.
    {"the variables of the runtime", "grep -qz . /proc/$PPID/environ && echo ESC''APED"},
    {"the memory of the runtime",
     "python3 -c \"open('/proc/$PPID/mem','rb'); print('ESC'+'APED')\"", false},
    {"the descriptors of the runtime", "readlink /proc/$PPID/fd/1 && echo ESC''APED", false},
    {"a signal to the runtime", "kill -0 $PPID && echo ESC''APED"},
    // Sockets.
    {"a TCP connection",
     "python3 -c \"import socket; "
     "socket.create_connection(('127.0.0.1',{PORT}),2); print('ESC'+'APED')\""},
    {"a TCP connection of the shell",
     "bash -c 'exec 3<>/dev/tcp/127.0.0.1/{PORT} && echo ESC\"\"APED'"},
    {"a UDP socket",
     "python3 -c \"import socket; socket.socket(type=socket.SOCK_DGRAM)"
     ".sendto(b'x',('127.0.0.1',{PORT})); print('ESC'+'APED')\""},
    {"a port to listen at",
     "python3 -c \"import socket; socket.create_server(('127.0.0.1',0)); print('ESC'+'APED')\""},
    {"a socket of this machine",
     "python3 -c \"import socket; s=socket.socket(socket.AF_UNIX); s.connect('{OUT}/socket');"
     "print('ESC'+'APED')\""},
    {"a pair that is turned to another address",
     "python3 -c \"import socket; a,b=socket.socketpair(socket.AF_UNIX,socket.SOCK_DGRAM);"
     "a.sendto(b'x','{OUT}/datagrams'); print('ESC'+'APED')\""},
    {"raw packets",
     "python3 -c \"import socket; socket.socket(socket.AF_PACKET,socket.SOCK_RAW);"
     "print('ESC'+'APED')\"",
     false},
    // The kernel.
    {"a name space", "unshare -Ur true && echo ESC''APED", false},
    {"a mount", "mkdir m; mount --bind {OUT} m && cat m/secret", false},
    {"a mount in a name space", "unshare -Urm sh -c 'mkdir m; mount --bind {OUT} m; cat m/secret'",
     false},
    {"another root", "mkdir c; chroot / cat {OUT}/secret", false},
    {"a device made", "mknod d c 1 1 && echo ESC''APED", false},
    {"messages of the kernel", "head -c 1 /dev/kmsg > /dev/null && echo ESC''APED", false},
    {"memory of the kernel", "head -c 1 /proc/kcore > /dev/null && echo ESC''APED", false},
    {"the terminal", "echo x > /dev/tty && echo ESC''APED", false},
    {"typing for the terminal",
     "python3 -c \"import fcntl,errno\ntry: fcntl.ioctl(0,0x5412,b'x')\n"
     "except OSError as e: print('refused' if e.errno==errno.EPERM else 'ESC'+'APED')\"",
     false},
#if defined(__x86_64__)  // the tables of these numbers
    // 0x4206 is PTRACE_SEIZE: it does not stop the runtime where it succeeds.
    {"a debugger at the runtime", SALLYPORT_TRY_CALL("101,0x4206,$PPID,0,0"), false},
    {"memory of the runtime by call", SALLYPORT_TRY_CALL("310,$PPID,0,0,0,0,0"), false},
    {"a descriptor of the runtime by call",
     SALLYPORT_TRY_CALL("438,__import__('os').pidfd_open($PPID),0,0"), false},
    {"the limits of the runtime", SALLYPORT_TRY_CALL("302,$PPID,1,0,0"), false},
    {"the priority of the runtime", SALLYPORT_TRY_CALL("141,0,$PPID,19"), false},
    {"the scheduling of the runtime", SALLYPORT_TRY_CALL("144,$PPID,3,0"), false},
    {"calls in a ring", SALLYPORT_TRY_CALL("425,8,0"), false},
    {"keys of the kernel", SALLYPORT_TRY_CALL("250,0,-3,0"), false},
    {"programs in the kernel", SALLYPORT_TRY_CALL("321,0,0,0"), false},
    {"counters of the kernel", SALLYPORT_TRY_CALL("298,0,0,-1,-1,0"), false},
    {"faults in our hands", SALLYPORT_TRY_CALL("323,0"), false},
    {"a file by its handle", SALLYPORT_TRY_CALL("304,-100,0,0"), false},
    {"a session of its own", SALLYPORT_TRY_CALL("112"), false},
#endif
};

#undef SALLYPORT_TRY_CALL

}  // namespace sallyport::agent
