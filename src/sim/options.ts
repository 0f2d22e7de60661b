/** The options of `npm run sim`. */
import { parseArgs } from 'node:util';
import { GUARD_IDS } from '../defender/guards/guards.ts';
import { optional } from '../kube/objects/optional.ts';
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
  /** The same with faults that appear, and the real controllers that repair them. */
  readonly repairs: boolean;
  readonly broken?: Breakage;
  /** Of faults, in a run with rollouts. */
  readonly hours: number;
}

const NUMBERS = ['seeds', 'seed', 'days', 'hours', 'machines'] as const;
/** Defaults of a run of asks, and of one with rollouts. */
const MACHINES = { asks: '1000', rollouts: '8' } as const;

/** The options, or what is wrong with them. */
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
        break: { type: 'string' },
        hours: { type: 'string', default: '2' },
      },
    });
    const { seeds, seed, days, hours, repairs } = values;
    const rollouts = values.rollouts || repairs;
    const { machines = rollouts ? MACHINES.rollouts : MACHINES.asks } = values;
    const numbers = { seeds: +seeds, seed: +seed, days: +days, hours: +hours, machines: +machines };
    return checkOptions({ ...values, rollouts }, numbers);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Words {
  readonly help: boolean;
  readonly output: string;
  readonly rollouts: boolean;
  readonly repairs: boolean;
  readonly without?: string;
  readonly break?: string;
}

function checkOptions(
  { help, output, rollouts, repairs, ...breaks }: Words,
  numbers: Record<(typeof NUMBERS)[number], number>,
): SimulatorOptions | string {
  const wrong = NUMBERS.find((name) => !Number.isInteger(numbers[name]) || numbers[name] < 1);
  if (wrong) return `expected --${wrong} to be a positive integer`;
  if (output !== 'text' && output !== 'json') return `expected -o text or json, got '${output}'`;
  const broken = readBreaks(breaks, { rollouts, repairs });
  if (typeof broken === 'string') return broken;
  return { help, json: output === 'json', rollouts, repairs, ...numbers, ...broken };
}

/** What is broken on purpose. */
function readBreaks(
  { without, break: breakage }: Pick<Words, 'without' | 'break'>,
  { rollouts, repairs }: Pick<Words, 'rollouts' | 'repairs'>,
): Pick<SimulatorOptions, 'without' | 'broken'> | string {
  if (rollouts && without !== undefined) return 'expected --without only without --rollouts and --repairs';
  if (!repairs && breakage !== undefined) return 'expected --break only with --repairs';
  const [broken, guard] = [readName('breakage', breakage, BREAKAGES), readName('guard', without, GUARD_IDS)];
  if (typeof broken === 'string') return broken;
  if (typeof guard === 'string') return guard;
  return { ...optional('broken', broken[0]), ...(guard[0] === undefined ? {} : { without: new Set(guard) }) };
}

/** The name, none, or what is wrong with it. */
function readName<T extends string>(
  kind: string,
  name: string | undefined,
  names: readonly T[],
): readonly T[] | string {
  if (name === undefined) return [];
  const found = names.find((each) => each === name);
  return found === undefined ? `unknown ${kind} '${name}': use one of ${names.join(', ')}` : [found];
}
