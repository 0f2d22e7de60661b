/** The options of `npm run sim`. */
import { parseArgs } from 'node:util';
import { GUARD_IDS } from '../defender/guards/guards.ts';

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
        hours: { type: 'string', default: '2' },
      },
    });
    const { seeds, seed, days, hours, rollouts } = values;
    const { machines = rollouts ? MACHINES.rollouts : MACHINES.asks } = values;
    const numbers = { seeds: +seeds, seed: +seed, days: +days, hours: +hours, machines: +machines };
    return checkOptions(values, numbers);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Words {
  readonly help: boolean;
  readonly output: string;
  readonly rollouts: boolean;
  readonly without?: string;
}

function checkOptions(
  { help, output, rollouts, without }: Words,
  numbers: Record<(typeof NUMBERS)[number], number>,
): SimulatorOptions | string {
  const wrong = NUMBERS.find((name) => !Number.isInteger(numbers[name]) || numbers[name] < 1);
  if (wrong) return `expected --${wrong} to be a positive integer`;
  if (output !== 'text' && output !== 'json') return `expected -o text or json, got '${output}'`;
  const options = { help, json: output === 'json', rollouts, ...numbers };
  if (rollouts && without !== undefined) return 'expected --without only without --rollouts';
  if (without === undefined) return options;
  if (GUARD_IDS.includes(without)) return { ...options, without: new Set([without]) };
  return `unknown guard '${without}': use one of ${GUARD_IDS.join(', ')}`;
}
