/** A set with the strategy Replace and its machines, as words: `old:ready` does not match the template, `ready` does. */
import type { Machine, MachineSet } from '../../../../src/api/generated/types.ts';
import type { SetMachine } from '../../../../src/controllers/machineset/members.ts';
import { planMachineSet } from '../../../../src/controllers/machineset/plan.ts';
import { machineSetStatus } from '../../../../src/controllers/machineset/status.ts';
import { NOW } from '../../../support/builders.ts';
import {
  explainPlan,
  type MemberWord,
  machineSet,
  member,
  NO_STORM,
  template,
} from '../../../support/machine-sets.ts';

type Strategy = Omit<MachineSet['spec']['updateStrategy'], 'type'>;

const OLD = { provider: 'local', config: { image: 'a' } } as const;
export const NEW = { provider: 'local', config: { image: 'b' } } as const;

export function replacingSet(
  replicas: number,
  strategy: Strategy,
  spec: Partial<MachineSet['spec']> = {},
): MachineSet {
  return machineSet(replicas, {
    spec: {
      template: template({ infra: NEW }),
      updateStrategy: { type: 'Replace', ...strategy },
      stormGuard: NO_STORM,
      ...spec,
    },
  });
}

type Replacement = NonNullable<NonNullable<Machine['status']>['replacement']>;

/** The mark of a job, before the word: `job!` delete first, `first!` the replacement first, `was-ready!` it was Ready then. */
const MARKS: Readonly<Record<string, Partial<Replacement>>> = {
  job: {},
  first: { replacementFirst: true },
  'was-ready': { wasReady: true },
};

/** The mark of a person. */
const ASKS: Readonly<Record<string, string>> = { 'ask-delete': 'DeleteFirst', ask: 'CreateFirst' };

export function replacedMembers(set: MachineSet, words: string): readonly SetMachine[] {
  const list = words.split(/\s+/).filter(Boolean);
  return list.map((text, index) => {
    const [prefix = '', rest] = text.includes('!') ? text.split('!') : ['', text];
    const word = (rest ?? '').replace(/^old:/, '') as MemberWord;
    const isOld = rest?.startsWith('old:') === true;
    const mark = MARKS[prefix];
    const ask = ASKS[prefix];
    return member(
      set,
      { word, index, age: list.length - index },
      {
        ...(isOld ? { spec: { infra: OLD } } : {}),
        ...(mark ? { status: { replacement: replacementOf(index, mark) } } : {}),
        ...(ask ? { metadata: { annotations: { 'kubenode.dev/replace-machine': ask } } } : {}),
      },
    );
  });
}

function replacementOf(index: number, mark: Partial<Replacement>): Replacement {
  return {
    job: `job-${index}`,
    grant: `g-${index}`,
    fence: index,
    replacementFirst: false,
    wasReady: false,
    since: NOW.toISOString(),
    ...mark,
  };
}

/** The plan after its status was shown: what a set does in the next reconcile when nothing has changed. */
export function announced(set: MachineSet, machines: readonly SetMachine[]): MachineSet {
  const plan = planMachineSet({ set, machines, now: NOW });
  const status = machineSetStatus({ set, plan, denials: [], now: NOW });
  return { ...set, status: { ...set.status, ...status } };
}

export function explainReplacement(set: MachineSet, words: string): string {
  const machines = replacedMembers(set, words);
  return explainPlan(announced(set, machines), machines);
}

/** What the status shows before the first act, with indexes in place of names. */
export function shownReplacement(set: MachineSet, words: string): string {
  const { plannedAction } = announced(set, replacedMembers(set, words)).status ?? {};
  const { type, names = [], because = '' } = plannedAction ?? {};
  const indexOf = (name: string): string =>
    String(
      Array.from({ length: 40 }, (_, index) => member(set, { word: 'ready', index, age: 1 })).findIndex(
        ({ machine }) => machine.metadata.name === name,
      ),
    );
  const text = because.replaceAll(/general-[0-9a-f]{8}/g, (name) => `#${indexOf(name)}`);
  return `${type} ${names.map((name) => `#${indexOf(name)}`).join(' ')}: ${text}`;
}
