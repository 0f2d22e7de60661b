/** The faults of a control plane in memory. */
import type { KeyFile, LeafFile, PlaneFaults } from '../contract/faults.ts';
import type { MemoryHosting } from './driver.ts';
import type { MemoryPlane } from './plane.ts';

export function memoryFaults({ planes }: MemoryHosting, name = 'ci'): PlaneFaults {
  const plane = (): MemoryPlane => {
    const found = planes.get(name);
    if (!found) throw new Error(`there is no control plane ${name}`);
    return found;
  };
  const spoil = async (leaf: LeafFile, problem: string): Promise<void> => {
    const issuedAt = new Date(0);
    plane().leaves.set(leaf, { serial: 'by hand', issuedAt, problem });
  };
  const lose = async (key: KeyFile, problem: string): Promise<() => Promise<void>> => {
    plane().lostKeys.set(key, problem);
    return async () => void plane().lostKeys.delete(key);
  };
  const toggle = async (field: 'isBroken' | 'isPortTaken'): Promise<() => Promise<void>> => {
    plane()[field] = true;
    return async () => {
      plane()[field] = false;
    };
  };
  return {
    kill: async (member) => void plane().running.delete(member),
    breakEtcd: () => toggle('isBroken'),
    takePort: () => toggle('isPortTaken'),
    wipeData: async () => {
      plane().running.delete('etcd');
      plane().data = 'Empty';
    },
    wipeFolder: async () => void planes.delete(name),
    bringData: async () => {
      plane().data = 'Other';
    },
    loseKey: (key) => lose(key, 'is missing or damaged'),
    replaceKey: async (key) => void (await lose(key, 'is not the key that it was made with')),
    damageCertificate: (leaf) => spoil(leaf, 'it is damaged'),
    forgeCertificate: (leaf) => spoil(leaf, 'it is signed by another CA'),
    damageRecord: async () => {
      plane().isRecordDamaged = true;
    },
    openRights: async () => {
      plane().isOpen = true;
    },
    openEntries: async () => (plane().isOpen ? [name] : []),
    growLog: async () => {
      plane().logBytes = 20 * 1024 ** 2;
    },
    logBytes: async () => plane().logBytes,
    // Nothing but a member is a process here.
    impersonate: async () => () => true,
  };
}
