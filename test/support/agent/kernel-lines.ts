/**
 * A monitor with the rules that node-problem-detector ships for the kernel, in our own patterns, and lines in the formats in which
 * kernels from 3.10 to 6.12 write them: for each the reason that it gives. Most lines of a log give none.
 */

export const kernelRules = {
  plugin: 'kmsg',
  lookback: '5m',
  bufferSize: 10,
  source: 'kernel-monitor',
  conditions: [
    { type: 'KernelDeadlock', reason: 'KernelHasNoDeadlock', message: 'kernel has no deadlock' },
    { type: 'ReadonlyFilesystem', reason: 'FilesystemIsNotReadOnly', message: 'not read-only' },
    { type: 'XfsShutdown', reason: 'XfsHasNotShutDown', message: 'XFS works' },
  ],
  rules: [
    temporary(
      'OOMKilling',
      'Killed process \\d+ \\(?(.+)\\)?,? (?:UID \\d+,? )?total-vm:\\d+kB, anon-rss:\\d+kB, file-rss:\\d+kB.*',
    ),
    temporary('TaskHung', 'task [\\S ]+:\\w+ blocked for more than \\w+ seconds\\.'),
    temporary(
      'UnregisterNetDevice',
      'unregister_netdevice: waiting for \\w+ to become free\\. Usage count = \\d+',
    ),
    temporary(
      'KernelOops',
      'BUG: (?:unable to handle (?:kernel|page)|kernel) (?:NULL pointer|paging|fault).*',
    ),
    temporary('KernelOops', 'divide error: 0000 \\[#\\d+\\].*'),
    temporary('Ext4Error', 'EXT4-fs error .*'),
    temporary('Ext4Warning', 'EXT4-fs warning .*'),
    temporary('IOError', 'Buffer I/O error .*'),
    temporary('MemoryReadError', '(?i)ce memory read error .*'),
    temporary('CperHardwareErrorFatal', '\\[Hardware Error\\]: event severity: fatal$'),
    temporary('OopsWithTrace', 'Oops: (?s:.*)\\nCall Trace:'),
    permanent('KernelDeadlock', 'DockerHung', 'task docker:\\w+ blocked for more than \\w+ seconds\\.'),
    permanent('ReadonlyFilesystem', 'FilesystemIsReadOnly', 'Remounting filesystem read-only'),
    permanent('XfsShutdown', 'XfsHasShutdown', 'XFS .* [Ss]hutting down filesystem\\.?'),
  ],
};

const NONE = '';

export const KERNEL_LINES: readonly (readonly [reasons: string, line: string])[] = [
  // Out of memory: before 4.x, since 5.x, in a control group, and what is written around it.
  ['OOMKilling', 'Killed process 1012 (heapster) total-vm:327128kB, anon-rss:306328kB, file-rss:11132kB'],
  [
    'OOMKilling',
    'Killed process 8314 (java) total-vm:4194304kB, anon-rss:2097152kB, file-rss:0kB, shmem-rss:0kB',
  ],
  [
    'OOMKilling',
    'Out of memory: Killed process 4711 (node) total-vm:989104kB, anon-rss:511232kB, file-rss:4kB, shmem-rss:0kB, UID:1000 pgtables:2212kB oom_score_adj:993',
  ],
  [
    'OOMKilling',
    'Memory cgroup out of memory: Killed process 23 (my app) total-vm:9kB, anon-rss:8kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:48kB oom_score_adj:-997',
  ],
  [
    'OOMKilling',
    'Memory cgroup out of memory: Killed process 77 (a (b)) total-vm:9kB, anon-rss:8kB, file-rss:0kB',
  ],
  [NONE, 'java invoked oom-killer: gfp_mask=0x100cca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0'],
  [
    NONE,
    'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=kubepods,mems_allowed=0,task=java,pid=8314,uid=0',
  ],
  [NONE, 'Memory cgroup out of memory: Kill process 23 (java) score 1974 or sacrifice child'],
  [NONE, 'oom_reaper: reaped process 8314 (java), now anon-rss:0kB, file-rss:0kB, shmem-rss:0kB'],
  [NONE, 'Tasks state (memory values in pages):'],
  [NONE, '[   8314]  1000  8314  1048576   524288  4415488        0           993 java'],
  // Hung tasks.
  ['TaskHung', 'INFO: task java:8314 blocked for more than 120 seconds.'],
  ['TaskHung', 'INFO: task kworker/u16:2:4711 blocked for more than 122 seconds.'],
  ['TaskHung', 'INFO: task jbd2/sda1-8:271 blocked for more than 241 seconds.'],
  ['TaskHung', 'INFO: task Web Content:90 blocked for more than 120 seconds.'],
  ['TaskHung DockerHung', 'INFO: task docker:20744 blocked for more than 120 seconds.'],
  ['TaskHung DockerHung', 'task docker:7 blocked for more than 300 seconds.'],
  ['TaskHung', 'INFO: task dockerd:20745 blocked for more than 120 seconds.'],
  [NONE, '      Not tainted 6.1.0-18-amd64 #1 Debian 6.1.76-1'],
  [NONE, '"echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.'],
  [NONE, 'task:java            state:D stack:0     pid:8314  ppid:1      flags:0x00004002'],
  [NONE, 'INFO: task java:8314 blocked for more than 120 seconds. Tainted: G'],
  [NONE, 'INFO: rcu_sched self-detected stall on CPU'],
  [NONE, 'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:'],
  [NONE, 'Future hung task reports are suppressed, see sysctl kernel.hung_task_warnings'],
  // Devices of containers.
  ['UnregisterNetDevice', 'unregister_netdevice: waiting for lo to become free. Usage count = 1'],
  ['UnregisterNetDevice', 'unregister_netdevice: waiting for eth0 to become free. Usage count = 22'],
  [NONE, 'unregister_netdevice: waiting for veth-1 to become free. Usage count = 1'],
  [NONE, 'eth0: renamed from veth3f2a'],
  [NONE, 'cni0: port 3(vethb1) entered blocking state'],
  [NONE, 'device vethb1 left promiscuous mode'],
  [NONE, 'IPv6: ADDRCONF(NETDEV_CHANGE): vethb1: link becomes ready'],
  [NONE, 'nf_conntrack: nf_conntrack: table full, dropping packet'],
  // Oopses.
  ['KernelOops', 'BUG: unable to handle kernel NULL pointer dereference at 0000000000000010'],
  ['KernelOops', 'BUG: unable to handle kernel paging request at ffffc90000e21ff8'],
  ['KernelOops', 'BUG: kernel NULL pointer dereference, address: 0000000000000028'],
  ['KernelOops', 'BUG: unable to handle page fault for address: ffffffffc0a1b2c3'],
  [NONE, '#PF: supervisor read access in kernel mode'],
  [NONE, 'Oops: 0000 [#1] PREEMPT SMP PTI'],
  [NONE, 'CPU: 2 PID: 4711 Comm: kworker/2:1 Not tainted 5.15.0-94-generic #104-Ubuntu'],
  ['OopsWithTrace', 'Call Trace:'],
  [NONE, ' <TASK>'],
  [NONE, ' ? __die_body.cold+0x1a/0x1f'],
  [NONE, '---[ end trace 0000000000000000 ]---'],
  ['KernelOops', 'divide error: 0000 [#1] SMP'],
  ['KernelOops', 'divide error: 0000 [#12] PREEMPT SMP NOPTI'],
  [NONE, 'watchdog: BUG: soft lockup - CPU#3 stuck for 23s! [java:8314]'],
  [NONE, 'BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 37s!'],
  [NONE, 'general protection fault, probably for non-canonical address 0xdead000000000100: 0000 [#1] SMP'],
  [NONE, 'BUG: Bad page state in process java  pfn:1f9c2'],
  [NONE, 'kernel BUG at fs/ext4/inode.c:2721!'],
  [NONE, 'WARNING: CPU: 0 PID: 1 at net/core/dev.c:4711 netif_rx+0x1/0x2'],
  // File systems.
  [
    'Ext4Error',
    'EXT4-fs error (device sda1): ext4_find_entry:1455: inode #2: comm ls: reading directory lblock 0',
  ],
  [
    'Ext4Error',
    'EXT4-fs error (device dm-3): ext4_journal_check_start:83: comm kworker/u8:1: Detected aborted journal',
  ],
  [
    'Ext4Warning',
    'EXT4-fs warning (device sdb): ext4_end_bio:344: I/O error 10 writing to inode 12 starting block 4711)',
  ],
  ['FilesystemIsReadOnly', 'EXT4-fs (sda1): Remounting filesystem read-only'],
  ['FilesystemIsReadOnly', 'Aborting journal on device sda1-8. Remounting filesystem read-only'],
  [NONE, 'EXT4-fs (sda1): mounted filesystem with ordered data mode. Opts: (null)'],
  [NONE, 'EXT4-fs (sda1): re-mounted. Opts: errors=remount-ro'],
  [NONE, 'EXT4-fs (sda1): previous I/O error to superblock detected'],
  [NONE, 'Aborting journal on device dm-3-8.'],
  [NONE, 'EXT4-fs (sda1): Remounting filesystem read-only now'],
  ['XfsHasShutdown', 'XFS (dm-2): Log I/O Error Detected.  Shutting down filesystem'],
  ['XfsHasShutdown', 'XFS (nvme0n1p1): Corruption of in-memory data detected.  Shutting down filesystem'],
  ['XfsHasShutdown', 'XFS (sdc): I/O Error Detected. Shutting down filesystem.'],
  [NONE, 'XFS (dm-2): Please unmount the filesystem and rectify the problem(s)'],
  [NONE, 'XFS (dm-2): Mounting V5 Filesystem'],
  [NONE, 'XFS (dm-2): Ending clean mount'],
  [NONE, 'BTRFS info (device sda1: state EA): forced readonly'],
  [NONE, 'overlayfs: upperdir is in-use as upperdir/workdir of another mount'],
  // Disks.
  ['IOError', 'Buffer I/O error on dev sda1, logical block 4711, async page read'],
  ['IOError', 'Buffer I/O error on device sdb, logical block 0'],
  ['IOError', 'Buffer I/O error on dev dm-3, logical block 9, lost async page write'],
  [
    NONE,
    'blk_update_request: I/O error, dev sda, sector 4711 op 0x0:(READ) flags 0x80700 phys_seg 1 prio class 0',
  ],
  [NONE, 'sd 0:0:0:0: [sda] tag#7 FAILED Result: hostbyte=DID_OK driverbyte=DRIVER_SENSE cmd_age=2s'],
  [NONE, 'ata1.00: exception Emask 0x0 SAct 0x10 SErr 0x0 action 0x0'],
  [NONE, 'nvme nvme0: I/O 22 QID 3 timeout, aborting'],
  [NONE, 'nvme nvme0: controller is down; will reset: CSTS=0x3, PCI_STATUS=0x10'],
  // Memory and other hardware.
  [
    'MemoryReadError',
    'EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x1f9c2)',
  ],
  ['MemoryReadError', 'EDAC sbridge MC1: 5 CE memory read error on CPU_SrcID#1_Chan#0_DIMM#0'],
  [NONE, 'EDAC MC0: 1 UE memory read error'],
  [NONE, 'mce: [Hardware Error]: Machine check events logged'],
  [NONE, 'mce: CPU1: Core temperature above threshold, cpu clock throttled (total events = 1)'],
  ['CperHardwareErrorFatal', '{1}[Hardware Error]: event severity: fatal'],
  [NONE, '{1}[Hardware Error]: event severity: corrected'],
  [NONE, '{1}[Hardware Error]: event severity: fatal, but recovered'],
  [NONE, 'NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the bus.'],
  [NONE, 'pcieport 0000:00:1c.0: AER: Corrected error received: 0000:01:00.0'],
  // A normal start.
  [NONE, 'Linux version 6.1.0-18-amd64 (debian-kernel@lists.debian.org)'],
  [NONE, 'Command line: BOOT_IMAGE=/boot/vmlinuz-6.1.0-18-amd64 root=UUID=1 ro quiet'],
  [NONE, 'systemd[1]: Started kubelet.service - the node agent of Kubernetes.'],
  [NONE, 'audit: type=1400 audit(1.2:3): apparmor="STATUS" operation="profile_load" name="docker-default"'],
  [NONE, 'random: crng init done'],
  [NONE, 'IPVS: Registered protocols (TCP, UDP, SCTP, AH, ESP)'],
  [NONE, ''],
];

function temporary(reason: string, pattern: string): object {
  return { type: 'temporary', reason, pattern };
}

function permanent(condition: string, reason: string, pattern: string): object {
  return { type: 'permanent', condition, reason, pattern };
}
