/** Groups machines by the values of their properties, and knows the suspects of each group. It keeps names only. */

export interface MachineGroups {
  /** A machine without keys is in no group. */
  readonly place: (machine: string, keys: readonly string[]) => void;
  /** Sets whether a machine may be affected by a fault. */
  readonly suspect: (machine: string, isSuspect: boolean) => void;
  readonly keysOf: (machine: string) => readonly string[];
  readonly group: (key: string) => MachineGroup;
}

export interface MachineGroup {
  readonly total: number;
  readonly suspects: ReadonlySet<string>;
}

interface CountedGroup extends MachineGroup {
  total: number;
  readonly suspects: Set<string>;
}

export function createMachineGroups(): MachineGroups {
  const groups = new Map<string, CountedGroup>();
  const keysByMachine = new Map<string, readonly string[]>();
  return { place, suspect, keysOf, group: (key) => groups.get(key) ?? NONE };

  function keysOf(machine: string): readonly string[] {
    return keysByMachine.get(machine) ?? [];
  }

  function place(machine: string, keys: readonly string[]): void {
    const before = keysOf(machine);
    if (keys.length === before.length && keys.every((key, index) => key === before[index])) return;
    for (const key of before) leave(machine, key);
    keysByMachine.delete(machine);
    if (keys.length > 0) keysByMachine.set(machine, keys);
    for (const key of keys) countedGroup(key).total += 1;
  }

  function leave(machine: string, key: string): void {
    const group = countedGroup(key);
    group.total -= 1;
    group.suspects.delete(machine);
    if (group.total === 0) groups.delete(key);
  }

  function suspect(machine: string, isSuspect: boolean): void {
    for (const key of keysOf(machine)) {
      const { suspects } = countedGroup(key);
      if (isSuspect) suspects.add(machine);
      else suspects.delete(machine);
    }
  }

  function countedGroup(key: string): CountedGroup {
    const group = groups.get(key) ?? { total: 0, suspects: new Set<string>() };
    groups.set(key, group);
    return group;
  }
}

const NONE: MachineGroup = { total: 0, suspects: new Set() };
