import { describe, expect, it } from 'vitest';
import { openJournal, parseJournal } from '../../../src/agent/journal/journal.ts';
import type { JournalRecord } from '../../../src/agent/journal/record.ts';
import { JOURNAL_FILE } from '../../../src/agent/layout.ts';
import { createProxyHost } from '../../support/agent/component-driver.ts';

const AT = '2030-01-01T12:00:00.000Z';

function step(component: string, to: string): JournalRecord {
  return {
    type: 'Step',
    component,
    at: AT,
    step: 'Fetching',
    entry: to,
    direction: 'Forward',
    to,
    bootId: 'b',
    boots: 0,
  };
}

async function textOf(files: ReturnType<typeof createProxyHost>['files']): Promise<string> {
  return new TextDecoder().decode(await files.read(JOURNAL_FILE));
}

describe('the journal', () => {
  it('AGT-12 is read again after a restart of the agent', async () => {
    const { files } = createProxyHost();
    const journal = await openJournal(files);
    await journal.append(step('proxy', 'sha256:1'));
    await journal.append({ type: 'Retry', token: 'again', at: AT });
    const again = await openJournal(files);
    expect(again.state()).toEqual(journal.state());
    expect(again.state().retryToken).toBe('again');
  });

  it.each([
    ['half a line', (text: string) => text.slice(0, -20), 0],
    ['a last line with other bytes', (text: string) => `${text.slice(0, -20)}${'x'.repeat(19)}\n`, 0],
    ['a damaged first line', (text: string) => `x${text.slice(1)}`, 1],
  ])('AGT-12 drops %s, and appends after what it kept', async (_name, damage, damagedLines) => {
    const { files } = createProxyHost();
    const journal = await openJournal(files);
    await journal.append(step('a', 'sha256:1'));
    await journal.append(step('b', 'sha256:2'));
    const text = damage(await textOf(files));
    await files.write(JOURNAL_FILE, new TextEncoder().encode(text), { mode: '0600', owner: 'root:root' });
    const again = await openJournal(files);
    expect(again.damagedLines).toBe(damagedLines);
    expect([...again.state().components.keys()]).toEqual([damagedLines === 0 ? 'a' : 'b']);
    await again.append(step('c', 'sha256:3'));
    expect((await openJournal(files)).state().components.size).toBe(2);
  });

  it('is compacted at a bound, without a change of its state', async () => {
    const { files } = createProxyHost();
    const short = await openJournal(files);
    for (let index = 0; index < 3; index += 1) await short.append(step(`c${index}`, `sha256:${index}`));
    const lines = await textOf(files);
    await files.append(JOURNAL_FILE, new TextEncoder().encode(lines.repeat(1666)));
    const journal = await openJournal(files);
    expect(parseJournal(await textOf(files)).records).toHaveLength(5001);
    await journal.append(step('c0', 'sha256:3'));
    expect(parseJournal(await textOf(files)).records.length).toBeLessThan(20);
    expect((await openJournal(files)).state()).toEqual(journal.state());
  });
});
