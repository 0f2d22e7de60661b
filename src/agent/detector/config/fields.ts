/** Reads fields of a configuration file. Each error has the path of the field. */
import { isRecord, type JsonRecord } from '../../../kube/objects/json.ts';
import { compilePattern, type GoPattern } from '../pattern/pattern.ts';
import { PatternError } from '../pattern/tree.ts';
import { parseGoDuration } from './duration.ts';
import { ConfigError } from './monitor.ts';

export class ConfigFields {
  readonly #values: JsonRecord;
  readonly #place: string;

  /** Refuses a field that is not in the list: a typo must not be passed over. */
  constructor(value: unknown, place: string, known: readonly string[]) {
    if (!isRecord(value)) throw new ConfigError(place, `expected an object, got ${shown(value)}`);
    const unknown = Object.keys(value).find((key) => !known.includes(key));
    if (unknown !== undefined) throw new ConfigError(place, unknownField(unknown));
    this.#values = value;
    this.#place = place;
  }

  placeOf(field: string): string {
    return this.#place === '' ? field : `${this.#place}.${field}`;
  }

  error(field: string, problem: string): ConfigError {
    return new ConfigError(this.placeOf(field), problem);
  }

  value(field: string): unknown {
    return Object.hasOwn(this.#values, field) ? this.#values[field] : undefined;
  }

  /** Returns the text of the field. Undefined when it is missing or empty. */
  optionalText(field: string): string | undefined {
    const value = this.value(field);
    if (value === undefined || value === '') return undefined;
    if (typeof value !== 'string') throw this.error(field, `expected a text, got ${shown(value)}`);
    return value;
  }

  text(field: string): string {
    const value = this.optionalText(field);
    if (value === undefined) throw this.error(field, 'required, but it is missing or empty');
    return value;
  }

  texts(field: string): readonly string[] {
    return this.list(field).map((value) => {
      if (typeof value !== 'string') throw this.error(field, `expected texts, got ${shown(value)}`);
      return value;
    });
  }

  list(field: string): readonly unknown[] {
    const value = this.value(field) ?? [];
    if (!Array.isArray(value)) throw this.error(field, `expected a list, got ${shown(value)}`);
    return value as readonly unknown[];
  }

  flag(field: string, otherwise: boolean): boolean {
    const value = this.value(field) ?? otherwise;
    if (typeof value !== 'boolean') throw this.error(field, `expected true or false, got ${shown(value)}`);
    return value;
  }

  integer(field: string, { least, most, otherwise }: IntegerLimits): number {
    const value = this.value(field) ?? otherwise;
    if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
      throw this.error(field, `expected an integer from ${least} to ${most}, got ${shown(value)}`);
    }
    return value;
  }

  milliseconds(field: string, otherwise: number): number {
    const text = this.optionalText(field);
    if (text === undefined) return otherwise;
    const parsed = parseGoDuration(text);
    if (parsed === undefined) throw this.error(field, `expected a duration such as 5m, got ${shown(text)}`);
    return parsed;
  }

  /** `suffix` is appended to what is compiled, and the text alone has to be a pattern as well. */
  pattern(field: string, suffix = ''): GoPattern {
    const text = this.text(field);
    try {
      compilePattern(text);
      return compilePattern(text + suffix);
    } catch (error) {
      if (error instanceof PatternError) throw this.error(field, error.message);
      throw error;
    }
  }
}

interface IntegerLimits {
  readonly least: number;
  readonly most: number;
  readonly otherwise?: number;
}

function unknownField(field: string): string {
  if (field.startsWith('taint')) {
    return `${field} is not supported: the detector does not taint nodes. Use the step Taint of a NodeRemedier`;
  }
  return `unknown field ${field}`;
}

const MAX_SHOWN = 100;

function shown(value: unknown): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
