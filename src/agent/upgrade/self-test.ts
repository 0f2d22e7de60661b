/** Tests whether this agent can work on this host: its journal, its files, its facts. It changes nothing that stays. */

import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../os/errors.ts';
import type { Host } from '../host/port.ts';
import type { JournalState } from '../journal/progress.ts';
import { SELF_TEST_FILE } from '../layout.ts';
import { readTarget } from '../target/store.ts';

export interface SelfTestInput {
  readonly host: Pick<Host, 'files' | 'node' | 'units'>;
  readonly journal: JournalState;
  readonly damagedLines: number;
}

/** Returns what fails; undefined when all works. */
export async function selfTestReason(input: SelfTestInput): Promise<string | undefined> {
  try {
    const { damagedLines } = input;
    if (damagedLines > 0) return `${damagedLines} lines of the journal cannot be read`;
    return (await journalReason(input)) ?? (await hostReason(input.host));
  } catch (error) {
    return messageOf(error);
  }
}

/** Tests that what earlier agents installed is known, and that its units can be asked. */
async function journalReason({ host, journal }: SelfTestInput): Promise<string | undefined> {
  for (const { component, current } of journal.components.values()) {
    if (current === undefined) continue;
    const target = await readTarget(host.files, current);
    if (!target) return `the version in force of ${component} is unknown`;
    for (const unit of target.units) await host.units.status(unit);
  }
  return undefined;
}

async function hostReason({ files, node }: SelfTestInput['host']): Promise<string | undefined> {
  const content = new TextEncoder().encode(await node.bootId());
  await node.facts();
  await files.write(SELF_TEST_FILE, content, { mode: '0600', owner: 'root:root' });
  const found = await files.read(SELF_TEST_FILE);
  await files.remove(SELF_TEST_FILE);
  const isSame = found !== undefined && isDeepStrictEqual([...found], [...content]);
  return isSame ? undefined : `${SELF_TEST_FILE} has other content than was written`;
}
