/** The systemd host of a node, as a test outside sees it: every call runs inside, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { HostError, type HostErrorCode } from '../../../../src/agent/host/errors.ts';
import type { Host } from '../../../../src/agent/host/port.ts';
import type { TestNode } from '../../node-kit.ts';
import { NODE_PROGRAM, SOURCE } from './place.ts';
import { type HostAnswer, UNWATCH, WATCH } from './protocol.ts';

export interface RemoteHost extends AsyncDisposable {
  readonly host: Host;
  /** Whether the process inside has ended, as it does when the node reboots. */
  hasEnded(): boolean;
}

interface Waiting {
  readonly method: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A node that shuts down stops its processes for a moment, and nsenter with them: it does not get the signal that continues them. */
const WAKE_MS = 500;

export async function openRemoteHost(node: TestNode): Promise<RemoteHost> {
  const channel = ['NODE_CHANNEL_FD=3', 'NODE_CHANNEL_SERIALIZATION_MODE=advanced'];
  const server = `${SOURCE}/test/support/agent/remote-host/server.ts`;
  const [program = '', ...args] = await node.command([NODE_PROGRAM, server], channel);
  const child = spawn(program, args, {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const calls = new RemoteCalls(child);
  await calls.ready;
  return {
    host: createProxy(calls),
    hasEnded: () => calls.hasEnded,
    async [Symbol.asyncDispose]() {
      if (calls.hasEnded) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

class RemoteCalls {
  readonly ready: Promise<void>;
  hasEnded = false;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #watches = new Map<number, (path: string) => void>();
  #next = 0;

  constructor(child: ChildProcess) {
    this.#child = child;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.ready = promise;
    const waking = setInterval(() => child.kill('SIGCONT'), WAKE_MS);
    child.on('message', (answer: HostAnswer) => {
      if ('ready' in answer) resolve();
      else this.#answered(answer);
    });
    child.once('exit', (code) => {
      clearInterval(waking);
      reject(new Error(`the host in the node ended with ${code}`));
      this.#end();
    });
  }

  async call(method: string, args: readonly unknown[]): Promise<unknown> {
    this.#next += 1;
    const id = this.#next;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#waiting.set(id, { method, resolve, reject });
    this.#child.send({ id, method, args });
    return await promise;
  }

  watch(paths: readonly string[], onChange: (path: string) => void): AsyncDisposable {
    this.#next += 1;
    const number = this.#next;
    this.#watches.set(number, onChange);
    const begun = this.call(WATCH, [number, paths]);
    return {
      [Symbol.asyncDispose]: async () => {
        await begun;
        await this.call(UNWATCH, [number]);
        this.#watches.delete(number);
      },
    };
  }

  #answered(answer: Exclude<HostAnswer, { ready: true }>): void {
    if ('watch' in answer) return this.#watches.get(answer.watch)?.(answer.path);
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if ('error' in answer) {
      const { code, message } = answer.error;
      waiting?.reject(new HostError(code as HostErrorCode, message));
    } else waiting?.resolve(answer.value);
  }

  /** The reboot of a node ends the process that asked for it: that is its success. */
  #end(): void {
    this.hasEnded = true;
    for (const { method, resolve, reject } of this.#waiting.values()) {
      if (method === 'node.reboot') resolve(undefined);
      else reject(new Error(`the host in the node ended during ${method}`));
    }
    this.#waiting.clear();
  }
}

function createProxy(calls: RemoteCalls): Host {
  const group = (name: string, own: Readonly<Record<string, unknown>> = {}): object =>
    new Proxy(own, {
      get: (_, method: string) =>
        own[method] ?? ((...args: readonly unknown[]) => calls.call(`${name}.${method}`, args)),
    });
  const watch: Host['files']['watch'] = (paths, onChange) => calls.watch(paths, onChange);
  return {
    type: 'systemd',
    capabilities: { systemdUnits: true, ownership: true, programs: true, limits: true },
    directory: '/',
    files: group('files', { watch }) as Host['files'],
    units: group('units') as Host['units'],
    processes: group('processes') as Host['processes'],
    node: group('node') as Host['node'],
    network: group('network') as Host['network'],
  };
}
