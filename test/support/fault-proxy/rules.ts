/** Which request meets which fault. Rules are data: a sweep makes them in a loop. */
import type { Call, Verb } from './call.ts';
import type { Fault } from './passage.ts';

export interface Rule {
  readonly verb?: Verb | readonly Verb[];
  readonly group?: string;
  readonly resource?: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string | RegExp;
  readonly path?: string | RegExp;
  /** `true`: the parameter is there, whatever it says. */
  readonly query?: Readonly<Record<string, string | true>>;
  /** Name of a listener. Absent: all of them. */
  readonly listener?: string;
  /** Of the requests that match since the rule was set: the first one is 1. Absent: every one. */
  readonly nth?: number;
  /** How many from the nth on. Default: one with `nth`, all without. */
  readonly times?: number;
  readonly fault: Fault;
}

export interface RuleHandle {
  /** How many requests matched, and how many of them met the fault. */
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
  /** Of the rules that are due, that of the one set first. */
  readonly fault: Fault | undefined;
  /** Of rules that match and are not due yet. */
  readonly observers: readonly Fault[];
}

export function ruleBook(): Rules {
  const pages = new Set<{ readonly rule: Rule; matched: number; fired: number }>();
  return { add, take, clear: () => pages.clear() };

  function add(rule: Rule): RuleHandle {
    const page = { rule, matched: 0, fired: 0, remove: () => void pages.delete(page) };
    pages.add(page);
    return page;
  }

  function take(call: Call, listener: string): Taken {
    const observers: Fault[] = [];
    let fault: Fault | undefined;
    for (const page of pages) {
      if (!matches(page.rule, call, listener)) continue;
      page.matched += 1;
      if (!isDue(page.rule, page.matched)) {
        observers.push(page.rule.fault);
      } else if (!fault) {
        page.fired += 1;
        fault = page.rule.fault;
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
