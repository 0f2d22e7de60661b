/** The page of the console beside a server whose state a test sets. */
import { pathToFileURL } from 'node:url';
import { createOpenAccess } from '../../../src/console/server/access.ts';
import { readPageFiles } from '../../../src/console/server/page-files.ts';
import { type ConsoleServer, startConsoleServer } from '../../../src/console/server/server.ts';
import type { ConsoleSource } from '../../../src/console/server/streams.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

const clock = createSystemClock();

export interface SettableSource extends ConsoleSource {
  readonly set: (state: ConsoleState) => void;
}

/** The state that a test sets. */
export function settable(first: ConsoleState): SettableSource {
  let state = first;
  const handlers: (() => void)[] = [];
  return {
    current: () => state,
    subscribe: (handler) => void handlers.push(handler),
    set: (next) => {
      state = next;
      for (const handler of handlers) handler();
    },
  };
}

/** `folder`: where the page was built. */
export async function servePage(folder: string, source: ConsoleSource, port = 0): Promise<ConsoleServer> {
  const files = await readPageFiles(pathToFileURL(`${folder}/`));
  const host = '127.0.0.1';
  const access = createOpenAccess({ source, clock, host });
  return await startConsoleServer({ files, access, host, port });
}
