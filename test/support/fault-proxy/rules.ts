/** Which request gets which fault. Rules are data: a sweep creates them in a loop. */
import type { Call, Verb } from './call.ts';
import type { Fault } from './proxied-request.ts';

export interface Rule {
  readonly verb?: Verb | readonly Verb[];
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string | RegExp;
  readonly path?: string | RegExp;
  /** `true`: the parameter is set, to any value. */
  readonly query?: Readonly<Record<string, string | true>>;
  /** Name of a listener. Default: all listeners. */
  readonly listener?: string;
  /** Number of the matching request since the rule was set, from 1. Default: every one. */
  readonly nth?: number;
  /** Number of requests from the nth on. Default: one with `nth`, all without. */
  readonly times?: number;
  readonly fault: Fault;
}

export interface RuleHandle {
  /** How many requests matched, and how many of them got the fault. */
  readonly matched: number;
  readonly fired: number;
  remove(): void;
}

export interface Rules {
  add(rule: Rule): RuleHandle;
  /** Counts the call for every rule that it matches. */
  take(call: Call, listener: string): Taken;
  clear(): void;
}

export interface Taken {
  /** The fault of the first-set rule among those that are due. */
  readonly fault: Fault | undefined;
  /** Faults of matching rules that are not due yet. */
  readonly observers: readonly Fault[];
}

export function createFaultRules(): Rules {
  const entries = new Set<{ readonly rule: Rule; matched: number; fired: number }>();
  return { add, take, clear: () => entries.clear() };

  function add(rule: Rule): RuleHandle {
    const entry = { rule, matched: 0, fired: 0, remove: () => void entries.delete(entry) };
    entries.add(entry);
    return entry;
  }

  function take(call: Call, listener: string): Taken {
    const observers: Fault[] = [];
    let fault: Fault | undefined;
    for (const entry of entries) {
      if (!matches(entry.rule, call, listener)) continue;
      entry.matched += 1;
      if (!isDue(entry.rule, entry.matched)) {
        observers.push(entry.rule.fault);
      } else if (!fault) {
        entry.fired += 1;
        fault = entry.rule.fault;
      }
    }
    return { fault, observers: observers.filter((observer) => observer.observe) };
  }
}

export function matches(rule: Rule, call: Call, listener: string): boolean {
  if (rule.listener !== undefined && rule.listener !== listener) return false;
  if (rule.verb !== undefined && ![rule.verb].flat().includes(call.verb)) return false;
  const same = (['group', 'resource', 'subresource', 'namespace'] as const).every(
    (word) => rule[word] === undefined || rule[word] === (call[word] ?? ''),
  );
  return same && fits(rule.name, call.name) && fits(rule.path, call.path) && asks(rule.query, call.query);
}

function fits(wanted: string | RegExp | undefined, found: string | undefined): boolean {
  if (wanted === undefined) return true;
  return wanted instanceof RegExp ? wanted.test(found ?? '') : wanted === found;
}

function asks(wanted: Rule['query'], found: Call['query']): boolean {
  return Object.entries(wanted ?? {}).every(([name, value]) =>
    value === true ? found[name] !== undefined : found[name] === value,
  );
}

function isDue({ nth, times }: Rule, matched: number): boolean {
  const first = nth ?? 1;
  const count = times ?? (nth === undefined ? Number.POSITIVE_INFINITY : 1);
  return matched >= first && matched < first + count;
}
