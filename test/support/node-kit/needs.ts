import { findProgram } from './shell.ts';

const PACKAGES: Readonly<Record<string, string>> = {
  debootstrap: 'debootstrap',
  'systemd-nspawn': 'systemd-container',
  ip: 'iproute2',
  nsenter: 'util-linux',
};

export interface Machine {
  readonly platform: string;
  readonly uid: number | undefined;
  readonly find: (program: string) => string | undefined;
}

/** Why this machine cannot run real nodes; undefined if it can. */
export function whyNoNodes(machine: Machine = thisMachine()): string | undefined {
  const { platform, uid, find } = machine;
  if (platform !== 'linux') return `real nodes need Linux, this is ${platform}`;
  if (uid !== 0) return 'real nodes need root (namespaces, mounts, a bridge)';
  const missing = Object.keys(PACKAGES).filter((program) => find(program) === undefined);
  if (missing.length === 0) return undefined;
  const packages = missing.map((program) => PACKAGES[program]).join(' ');
  return `real nodes need ${missing.join(', ')}: apt-get install ${packages}`;
}

function thisMachine(): Machine {
  return { platform: process.platform, uid: process.getuid?.(), find: findProgram };
}
