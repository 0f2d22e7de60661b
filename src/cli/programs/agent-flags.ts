/** Parses the arguments of a command by its definition. */

import { parseArgs } from 'node:util';
import { optional } from '../../kube/objects/optional.ts';
import { messageOf } from '../../os/errors.ts';
import type { AgentCommandDefinition, AgentOption } from '../commands/agent/option.ts';
import { CliError, EXIT } from '../errors.ts';

export interface ParsedArguments {
  readonly help: boolean;
  readonly argument: string;
  readonly flags: Flags;
}

export class Flags {
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string>) {
    this.#values = values;
  }

  find(name: string): string | undefined {
    return this.#values.get(name);
  }

  /** Returns the value of an option that is required or has a default. */
  get(name: string): string {
    return this.#values.get(name) ?? '';
  }
}

export function parseCommandArguments(
  { options, argument }: AgentCommandDefinition,
  args: readonly string[],
): ParsedArguments {
  const { values, positionals } = parseWords(options, args);
  const { help = false, ...given } = values;
  if (help === true) return { help: true, argument: '', flags: new Flags(new Map()) };
  const expected = argument ? 1 : 0;
  if (positionals.length !== expected) {
    throw usage(argument ? `expected one argument: ${argument.name}` : 'expected no arguments');
  }
  const found = options.flatMap((option) => {
    const value = valueOf(option, given[option.name]);
    return value === undefined ? [] : [[option.name, value] as const];
  });
  return { help: false, argument: positionals[0] ?? '', flags: new Flags(new Map(found)) };
}

type Values = Readonly<Record<string, string | boolean | undefined>>;

function parseWords(
  options: readonly AgentOption[],
  args: readonly string[],
): { readonly values: Values; readonly positionals: readonly string[] } {
  const named = options.map(
    ({ name, short, value }) =>
      [name, { type: value === undefined ? 'boolean' : 'string', ...optional('short', short) }] as const,
  );
  const help = { type: 'boolean' as const, short: 'h' };
  try {
    return parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(named), help },
      allowPositionals: true,
    });
  } catch (error) {
    throw usage(messageOf(error));
  }
}

function valueOf(option: AgentOption, given: string | boolean | undefined): string | undefined {
  const value = given?.toString() ?? option.default?.toString();
  if (value === undefined && option.required) throw usage(`--${option.name} <${option.value}> is required`);
  const reason = value === undefined ? undefined : invalidReason(option, value);
  if (reason !== undefined) throw usage(`--${option.name}: ${reason}, got ${JSON.stringify(value)}`);
  return value;
}

function invalidReason({ choices, max }: AgentOption, value: string): string | undefined {
  if (choices && !choices.includes(value)) return `expected ${choices.join(' or ')}`;
  if (max === undefined || (/^\d+$/.test(value) && Number(value) <= max)) return undefined;
  return `expected an integer from 0 to ${max}`;
}

function usage(what: string, hint?: string): CliError {
  return new CliError(what, { exitCode: EXIT.usage, ...optional('hint', hint) });
}
