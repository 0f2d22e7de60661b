/** Checks memory, swap, disks and the clock of a host. Pure. */
import { fail, type PreflightCheck, passed, unknown, type Verdict, warn } from '../check.ts';
import type { Usage } from '../facts.ts';

const KIB_OF_GIB = 1024 ** 2;
/** A node with less has no room for pods beside kubelet, containerd and the agent. */
const LEAST_MEMORY_GIB = 1;
/** Where images and volumes are. The kubelet evicts pods below 10 % of it. */
const DATA = '/var/lib';
const LEAST_SPACE_GIB = 2;
const ENOUGH_SPACE_GIB = 10;
/** The kubelet evicts pods below 5 %. */
const LEAST_INODES_PERCENT = 5;
const ENOUGH_INODES_PERCENT = 15;
/** Certificates are valid from 5 minutes before they are signed; the difference may grow until the time is synchronized. */
const MOST_SKEW_SECONDS = 120;
const ENOUGH_SKEW_SECONDS = 10;

const memory: PreflightCheck = ({ facts: { memoryKib } }) => {
  if (memoryKib === undefined) return unknown('the size of the memory');
  const gib = memoryKib / KIB_OF_GIB;
  const found = `${gib.toFixed(1)} GiB`;
  // A machine of 1 GiB reports a little less: the kernel keeps some.
  return gib < LEAST_MEMORY_GIB * 0.9
    ? fail(found, `add memory: at least ${LEAST_MEMORY_GIB} GiB`)
    : passed(found);
};

const swap: PreflightCheck = ({ facts: { swaps } }) => {
  if (swaps.length === 0) return passed('off');
  return fail(
    swaps.join(', '),
    'run swapoff -a and remove it from /etc/fstab, or skip this check if the config of the kubelet permits swap',
  );
};

const diskSpace: PreflightCheck = ({ facts: { space } }) => {
  const data = space[DATA];
  if (data === undefined) return unknown(`the free space of ${DATA}`);
  const gib = data.free / KIB_OF_GIB;
  const found = `${gib.toFixed(1)} GiB free in ${DATA}`;
  const hint = `free some space: at least ${ENOUGH_SPACE_GIB} GiB`;
  if (gib < LEAST_SPACE_GIB) return fail(found, hint);
  return gib < ENOUGH_SPACE_GIB ? warn(found, hint) : passed(found);
};

const inodes: PreflightCheck = ({ facts: { inodes: found } }) => {
  const data = found[DATA];
  return data === undefined ? unknown(`the free inodes of ${DATA}`) : inodesVerdict(data);
};

/** Some file systems, such as btrfs, have no limit and report a total of 0. */
function inodesVerdict({ total, free }: Usage): Verdict {
  if (total === 0) return passed(`no limit in ${DATA}`);
  const percent = Math.floor((free / total) * 100);
  const found = `${percent} % of the inodes free in ${DATA}`;
  const hint = 'delete files, or use a file system with more inodes';
  if (percent < LEAST_INODES_PERCENT) return fail(found, hint);
  return percent < ENOUGH_INODES_PERCENT ? warn(found, hint) : passed(found);
}

/** Only root knows: to another user every system folder is read-only. */
const readOnly: PreflightCheck = ({ facts: { uid, writable, notWritable } }) => {
  if (uid !== 0 || writable.length + notWritable.length === 0) {
    return unknown('whether the system folders can be written', 'permit sudo, then run it again');
  }
  if (notWritable.length === 0) return passed(writable.join(', '));
  return fail(`read-only: ${notWritable.join(', ')}`, 'mount them read-write (mount shows the file system)');
};

/** The host read its clock at some time between the start and the end of the script. */
const clockSkew: PreflightCheck = ({ facts: { time }, started, ended }) => {
  if (time === undefined) return unknown('the clock');
  const before = +time / 1000 + 1 - +started / 1000;
  const after = +time / 1000 - +ended / 1000;
  const skew = after > 0 ? after : Math.min(0, before);
  const seconds = Math.round(Math.abs(skew));
  if (seconds === 0) return passed('as here');
  const found = `${seconds} s ${skew > 0 ? 'ahead of' : 'behind'} this machine`;
  const hint = 'set the clock, and synchronize it (systemd-timesyncd or chrony)';
  if (seconds > MOST_SKEW_SECONDS) return fail(found, hint);
  return seconds > ENOUGH_SKEW_SECONDS ? warn(found, hint) : passed(found);
};

const timeSync: PreflightCheck = ({ facts: { timeSync: found } }) =>
  found.length > 0
    ? passed(found.join(', '))
    : warn('no time service', 'install and enable systemd-timesyncd or chrony');

export const RESOURCE_CHECKS: Readonly<Record<string, PreflightCheck>> = {
  Memory: memory,
  Swap: swap,
  DiskSpace: diskSpace,
  Inodes: inodes,
  ReadOnlyFileSystems: readOnly,
  ClockSkew: clockSkew,
  TimeSync: timeSync,
};
