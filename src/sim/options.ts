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
}

const NUMBERS = ['seeds', 'seed', 'days', 'machines'] as const;

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
        machines: { type: 'string', default: '1000' },
        without: { type: 'string' },
      },
    });
    const { seeds, seed, days, machines } = values;
    return checkOptions(values, { seeds: +seeds, seed: +seed, days: +days, machines: +machines });
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Words {
  readonly help: boolean;
  readonly output: string;
  readonly without?: string;
}

function checkOptions(
  { help, output, without }: Words,
  numbers: Record<(typeof NUMBERS)[number], number>,
): SimulatorOptions | string {
  const wrong = NUMBERS.find((name) => !Number.isInteger(numbers[name]) || numbers[name] < 1);
  if (wrong) return `expected --${wrong} to be a positive integer`;
  if (output !== 'text' && output !== 'json') return `expected -o text or json, got '${output}'`;
  const options = { help, json: output === 'json', ...numbers };
  if (without === undefined) return options;
  if (GUARD_IDS.includes(without)) return { ...options, without: new Set([without]) };
  return `unknown guard '${without}': use one of ${GUARD_IDS.join(', ')}`;
}
