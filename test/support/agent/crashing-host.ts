/** A host on which the agent ends at the n-th call that changes something: before the call, or after it. */
import type { Host } from '../../../src/agent/host/port.ts';

export class AgentKilled extends Error {}

export interface CrashPoint {
  readonly call: number;
  readonly when: 'before' | 'after';
}

export interface CrashingHost {
  readonly host: Host;
  /** Names of the calls, in order. */
  readonly calls: readonly string[];
}

const WRITES: Readonly<Record<string, readonly string[]>> = {
  files: ['write', 'setAttributes', 'append', 'link', 'makeDirectory', 'copy', 'rename', 'remove', 'unpack'],
  units: ['write', 'remove', 'setEnabled', 'start', 'stop', 'reload'],
  node: ['reboot'],
  processes: ['run'],
  network: ['download'],
};

type Call = (...args: readonly unknown[]) => Promise<unknown>;

export function crashAt(host: Host, point?: CrashPoint): CrashingHost {
  const calls: string[] = [];
  let isDead = false;

  function wrapped(name: string, call: Call): Call {
    return async (...args) => {
      if (isDead) throw new AgentKilled(name);
      calls.push(`${name} ${String(args[0])}`);
      const isHere = calls.length === point?.call;
      if (isHere) isDead = true;
      if (isHere && point?.when === 'before') throw new AgentKilled(name);
      const result = await call(...args);
      if (isHere) throw new AgentKilled(name);
      return result;
    };
  }

  const groups = Object.entries(WRITES).map(([group, names]) => {
    const original = host[group as keyof Host] as unknown as Record<string, Call>;
    const methods = new Map(
      names.map((name) => [name, wrapped(`${group}.${name}`, (original[name] as Call).bind(original))]),
    );
    return [group, withMethods(original, methods)] as const;
  });
  return { host: { ...host, ...Object.fromEntries(groups) }, calls };
}

/** The object with some methods replaced. The others keep their `this`: a class may have private fields. */
function withMethods<T extends object>(original: T, methods: ReadonlyMap<string, Call>): T {
  return new Proxy(original, {
    get(target, name) {
      const value: unknown = methods.get(String(name)) ?? Reflect.get(target, name, target);
      return typeof value === 'function' && !methods.has(String(name)) ? (value as Call).bind(target) : value;
    },
  });
}
