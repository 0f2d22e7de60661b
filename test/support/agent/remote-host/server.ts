/** Runs in a node: a systemd host that a test outside works with. */
import { createSystemdHost } from '../../../../src/agent/host/systemd/host.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type HostAnswer, type HostCall, UNWATCH, WATCH } from './protocol.ts';

const host = createSystemdHost({ clock: createSystemClock() });
const watches = new Map<number, AsyncDisposable>();

function send(answer: HostAnswer): void {
  process.send?.(answer);
}

async function call({ method, args }: HostCall): Promise<unknown> {
  if (method === WATCH) return watch(...(args as [number, readonly string[]]));
  if (method === UNWATCH) return await watches.get(args[0] as number)?.[Symbol.asyncDispose]();
  const [group = '', name = ''] = method.split('.');
  const owner = host[group as keyof typeof host] as unknown as Record<
    string,
    (...each: readonly unknown[]) => unknown
  >;
  return await owner[name]?.(...args);
}

function watch(number: number, paths: readonly string[]): void {
  watches.set(
    number,
    host.files.watch(paths, (path) => send({ watch: number, path })),
  );
}

function errorOf(error: unknown): Extract<HostAnswer, { error: unknown }>['error'] {
  const { name, message, code } = error as Error & { code?: string };
  return { name, message, code: code ?? '' };
}

process.on('message', (message: HostCall) => {
  call(message).then(
    (value) => send({ id: message.id, value }),
    (error: unknown) => send({ id: message.id, error: errorOf(error) }),
  );
});
process.on('disconnect', () => process.exit());
await host.open();
send({ ready: true });
