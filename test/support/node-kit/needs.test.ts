import { expect, it } from 'vitest';
import { type Machine, whyNoNodes } from './needs.ts';

const ABLE: Machine = { platform: 'linux', uid: 0, find: (program) => `/usr/bin/${program}` };

it.each<[says: string | undefined, lacks: Partial<Machine>]>([
  [undefined, {}],
  ['real nodes need Linux, this is darwin', { platform: 'darwin', uid: 501 }],
  ['real nodes need root (namespaces, mounts, a bridge)', { uid: 1000 }],
  [
    'real nodes need debootstrap, systemd-nspawn: apt-get install debootstrap systemd-container',
    { find: (program) => (/debootstrap|nspawn/.test(program) ? undefined : `/bin/${program}`) },
  ],
])('says %s', (says, lacks) => {
  expect(whyNoNodes({ ...ABLE, ...lacks })).toBe(says);
});
