import { findProgram } from './shell.ts';

const PACKAGES: Readonly<Record<string, string>> = {
  debootstrap: 'debootstrap',
  'systemd-nspawn': 'systemd-container',
  ip: 'iproute2',
  nsenter: 'util-linux',
};

/** What this machine lacks for real nodes; undefined when it lacks nothing. */
export function whyNoNodes(): string | undefined {
  if (process.platform !== 'linux') return `real nodes need Linux, this is ${process.platform}`;
  if (process.getuid?.() !== 0) return 'real nodes need root (namespaces, mounts, a bridge)';
  const missing = Object.keys(PACKAGES).filter((program) => findProgram(program) === undefined);
  if (missing.length === 0) return undefined;
  const packages = missing.map((program) => PACKAGES[program]).join(' ');
  return `real nodes need ${missing.join(', ')}: apt-get install ${packages}`;
}
