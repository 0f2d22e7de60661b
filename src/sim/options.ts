/** Parses the options of `npm run sim`. */

import { parseArgs } from 'node:util';
import { GUARD_IDS } from '../defender/guards/guards.ts';
import { optional } from '../kube/objects/optional.ts';
import { messageOf } from '../os/errors.ts';
import { SET_BREAKAGES, type SetBreakage } from './machines/breakage.ts';
import { BREAKAGES, type Breakage } from './rollout/repairs/breakage.ts';

export interface SimulatorOptions {
  readonly help: boolean;
  readonly json: boolean;
  readonly seeds: number;
  readonly seed: number;
  readonly days: number;
  readonly machines: number;
  readonly without?: ReadonlySet<string>;
  /** Rolls versions out with the real controllers, instead of asks to the Defender alone. */
  readonly rollouts: boolean;
  /** Rolls versions out as `rollouts` does, with faults that appear, and with the real controllers that repair them. */
  readonly repairs: boolean;
  /** Keeps the machines of a MachineSet with the real controllers. */
  readonly sets: boolean;
  /** Several clusters under one hub, which hands out their shares of limits. */
  readonly fleet: boolean;
  readonly clusters: number;
  readonly broken?: Breakage;
  /** The breakage in a run with sets. */
  readonly brokenSet?: SetBreakage;
  /** The hours of faults, in a run with rollouts or sets. */
  readonly hours: number;
}

const NUMBERS = ['seeds', 'seed', 'days', 'hours', 'machines', 'clusters'] as const;
/** The default numbers of machines of a run of asks, of one with rollouts, and of one with sets. */
const MACHINES = { asks: '1000', rollouts: '8', sets: '12' } as const;

/** Parses the options, or returns what is wrong with them. */
export function readOptions(args: readonly string[]): SimulatorOptions | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        output: { type: 'string', short: 'o', default: 'text' },
        seeds: { type: 'string', default: '10' },
        seed: { type: 'string', default: '1' },
        days: { type: 'string', default: '7' },
        machines: { type: 'string' },
        without: { type: 'string' },
        rollouts: { type: 'boolean', default: false },
        repairs: { type: 'boolean', default: false },
        sets: { type: 'boolean', default: false },
        fleet: { type: 'boolean', default: false },
        clusters: { type: 'string', default: '20' },
        break: { type: 'string' },
        hours: { type: 'string' },
      },
    });
    const { seeds, seed, days, repairs, sets, fleet, clusters } = values;
    const { hours = fleet ? '24' : '2' } = values;
    const rollouts = values.rollouts || repairs;
    const { machines = MACHINES[kindOf({ rollouts, sets })] } = values;
    const numbers = {
      seeds: +seeds,
      seed: +seed,
      days: +days,
      hours: +hours,
      machines: +machines,
      clusters: +clusters,
    };
    return checkOptions({ ...values, rollouts }, numbers);
  } catch (error) {
    return messageOf(error);
  }
}

function kindOf({ rollouts, sets }: Pick<Words, 'rollouts' | 'sets'>): keyof typeof MACHINES {
  if (sets) return 'sets';
  return rollouts ? 'rollouts' : 'asks';
}

interface Words {
  readonly help: boolean;
  readonly output: string;
  readonly rollouts: boolean;
  readonly repairs: boolean;
  readonly sets: boolean;
  readonly fleet: boolean;
  readonly without?: string;
  readonly break?: string;
}

function checkOptions(
  { help, output, rollouts, repairs, sets, fleet, ...breaks }: Words,
  numbers: Record<(typeof NUMBERS)[number], number>,
): SimulatorOptions | string {
  const wrong = NUMBERS.find((name) => !Number.isInteger(numbers[name]) || numbers[name] < 1);
  if (wrong) return `expected --${wrong} to be a positive integer`;
  if (output !== 'text' && output !== 'json') return `expected -o text or json, got '${output}'`;
  if ([sets, rollouts, fleet].filter(Boolean).length > 1) {
    return 'expected only one of --sets, --fleet and --rollouts or --repairs';
  }
  const broken = readBreaks(breaks, { rollouts, repairs, sets });
  if (typeof broken === 'string') return broken;
  return { help, json: output === 'json', rollouts, repairs, sets, fleet, ...numbers, ...broken };
}

/** Reads what is broken on purpose, or returns what is wrong with these options. */
function readBreaks(
  { without, break: breakage }: Pick<Words, 'without' | 'break'>,
  { rollouts, repairs, sets }: Pick<Words, 'rollouts' | 'repairs' | 'sets'>,
): Pick<SimulatorOptions, 'without' | 'broken' | 'brokenSet'> | string {
  const isAsks = !rollouts && !sets;
  if (!isAsks && without !== undefined) {
    return 'expected --without only without --rollouts, --repairs and --sets';
  }
  if (sets) return readOne('brokenSet', readName('breakage', breakage, SET_BREAKAGES));
  if (repairs) return readOne('broken', readName('breakage', breakage, BREAKAGES));
  if (breakage !== undefined) return 'expected --break only with --repairs or --sets';
  return readGuard(readName('guard', without, GUARD_IDS));
}

function readGuard(guard: readonly string[] | string): Pick<SimulatorOptions, 'without'> | string {
  if (typeof guard === 'string') return guard;
  return guard.length === 0 ? {} : { without: new Set(guard) };
}

function readOne<K extends string, T extends string>(
  field: K,
  found: readonly T[] | string,
): { readonly [name in K]?: T } | string {
  return typeof found === 'string' ? found : optional(field, found[0]);
}

/** Reads a name: returns the name, none, or what is wrong with it. */
function readName<T extends string>(
  kind: string,
  name: string | undefined,
  names: readonly T[],
): readonly T[] | string {
  if (name === undefined) return [];
  const found = names.find((each) => each === name);
  return found === undefined ? `unknown ${kind} '${name}': use one of ${names.join(', ')}` : [found];
}
