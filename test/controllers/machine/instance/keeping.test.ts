import { describe, expect, it } from 'vitest';
import type { Machine, MachineKept, MachineReplacement } from '../../../../src/api/generated/types.ts';
import {
  deletionDeadline,
  keptUntil,
  othersKeptOf,
  planKeeping,
} from '../../../../src/controllers/machine/instance/keeping.ts';
import { ago, machine, NOW } from '../../../support/builders.ts';

const MARK: MachineReplacement = {
  job: 'j',
  grant: 'g-1',
  fence: 1,
  replacementFirst: false,
  wasReady: false,
  since: ago(60),
  keepFailed: { holdSeconds: 3600, max: 2 },
};
const KEPT: MachineKept = { job: 'j', since: ago(600), until: ago(-3000), max: 2 };

interface Case {
  readonly mark?: Partial<MachineReplacement> | null;
  readonly kept?: Partial<MachineKept>;
  readonly drain?: Machine['spec']['deletion']['drain'];
  readonly state?: 'Running' | 'Stopped' | 'Gone';
  readonly annotations?: Readonly<Record<string, string>>;
  /** When the other machines of the set began to be kept, in seconds before now. */
  readonly others?: readonly number[];
}

function machineFor({ mark = {}, kept, drain = 'Respect', state, annotations = {} }: Case): Machine {
  const { deletion } = machine('m').spec;
  return machine('m', {
    metadata: {
      deletionTimestamp: ago(900),
      annotations,
      labels: { 'kubenode.dev/machineset': 'web' },
    },
    spec: { deletion: { ...deletion, drain } },
    status: {
      ...(mark ? { replacement: { ...MARK, ...mark } } : {}),
      ...(kept ? { kept: { ...KEPT, ...kept } } : {}),
      ...(state ? { infra: { state } } : {}),
    },
  });
}

function other(name: string, seconds: number): Machine {
  return machine(name, {
    metadata: { deletionTimestamp: ago(900), labels: { 'kubenode.dev/machineset': 'web' } },
    status: { kept: { ...KEPT, since: ago(seconds) } },
  });
}

function inputOf(input: Case) {
  const othersKept = (input.others ?? []).map((seconds, index) => other(`o-${index}`, seconds));
  return { machine: machineFor(input), othersKept, now: NOW };
}

describe('planKeeping', () => {
  it.each<[name: string, input: Case, want: string]>([
    ['keeps a machine whose job asks for it', {}, '3600 s, at most 2'],
    ['keeps one more while there is room', { others: [60] }, '3600 s, at most 2'],
    ['MAC-40 keeps no more than the maximum', { others: [60, 90] }, '-'],
    ['keeps nothing when no job replaces the machine', { mark: null }, '-'],
    [
      'MAC-40 keeps nothing when the job does not ask for it',
      { mark: { keepFailed: undefined as never } },
      '-',
    ],
    ['does not begin a second time', { kept: {} }, '-'],
    ['MAC-40 keeps no machine whose drain is skipped: pods may run on it', { drain: 'Skip' }, '-'],
    ['keeps an instance that is stopped', { state: 'Stopped' }, '3600 s, at most 2'],
    ['keeps nothing of an instance that was deleted', { state: 'Gone' }, '-'],
    [
      'keeps nothing that a person marked for its deletion',
      { annotations: { 'kubenode.dev/delete': '' } },
      '-',
    ],
  ])('%s', (_, input, want) => {
    const kept = planKeeping(inputOf(input));
    const seconds = kept && (Date.parse(kept.until) - NOW.getTime()) / 1000;
    expect(kept ? `${seconds} s, at most ${kept.max}` : '-').toBe(want);
  });

  it('records its job and the moment', () => {
    expect(planKeeping(inputOf({}))).toMatchObject({ job: 'j', since: NOW.toISOString() });
  });
});

describe('keptUntil', () => {
  it.each<[name: string, input: Case, want: string]>([
    ['is not set before it is recorded', {}, '-'],
    ['is what was recorded', { kept: {} }, ago(-3000)],
    ['stays when the mark of the job is removed', { kept: {}, mark: null }, ago(-3000)],
    ['lasts to the last moment', { kept: { until: ago(-1) } }, ago(-1)],
    ['MAC-40 ends when its time is over', { kept: { until: ago(0) } }, '-'],
    ['ends when a person asks for it', { kept: {}, annotations: { 'kubenode.dev/delete': '' } }, '-'],
    ['ends when the instance was deleted by hand', { kept: {}, state: 'Gone' }, '-'],
    ['ends when the drain is skipped from now on', { kept: {}, drain: 'Skip' }, '-'],
    [
      'MAC-40 ends for the latest when two more were recorded before it',
      { kept: {}, others: [700, 601] },
      '-',
    ],
    ['stays when one of the two came later', { kept: {}, others: [700, 599] }, ago(-3000)],
    [
      'MAC-40 compares names of those that began at the same moment',
      { kept: { max: 1 }, others: [600] },
      ago(-3000),
    ],
  ])('%s', (_, input, want) => {
    expect(keptUntil(inputOf(input))?.getTime()).toBe(want === '-' ? undefined : Date.parse(want));
  });

  it('MAC-40 keeps exactly the maximum, whichever of them is judged', () => {
    const all = ['a', 'b', 'c', 'd'].map((name) => other(name, 600));
    const kept = all.filter(
      (each) => keptUntil({ machine: each, othersKept: othersKeptOf(each, all), now: NOW }) !== undefined,
    );
    expect(kept.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
  });
});

describe('othersKeptOf', () => {
  it('counts only other machines of the set that are kept', () => {
    const kept = other('o', 600);
    const foreign = { ...other('f', 600), metadata: { ...kept.metadata, name: 'f', labels: {} } };
    const all = [machineFor({ kept: {} }), kept, foreign, machine('live')];
    expect(othersKeptOf(machineFor({}), all).map(({ metadata }) => metadata.name)).toEqual(['o']);
  });
});

describe('deletionDeadline', () => {
  it('counts from the deletion, and from the end of the keeping', () => {
    const { timeoutSeconds } = machine('m').spec.deletion;
    expect(deletionDeadline(machine('live'))).toBeUndefined();
    expect(deletionDeadline(machineFor({}))).toEqual(new Date(ago(900 - timeoutSeconds)));
    expect(deletionDeadline(machineFor({ kept: {} }))).toEqual(new Date(ago(-3000 - timeoutSeconds)));
  });
});
