import { describe, expect, it } from 'vitest';
import type { AuditLine } from '../../../src/api/audit/lines.ts';
import { headName, KEPT_PARTS, partName } from '../../../src/api/audit/parts.ts';
import { readAuditRecord } from '../../../src/api/audit/read.ts';
import { type AuditRecord, createAuditRecord } from '../../../src/api/audit/record.ts';
import { NAMESPACE_AUDIT } from '../../../src/api/names.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import type { MemoryApi, MemoryConnection } from '../../support/controller/memory-api.ts';
import { auditApi } from './bed.ts';

function closure(breaker: string, reason = 'fixed'): AuditLine {
  return { type: 'closure', at: '2030-01-01T12:00:00.000Z', breaker, by: 'ann', reason };
}

function recordOf(connection: MemoryConnection): AuditRecord {
  return createAuditRecord({ client: connection.client(), writer: 'defender', fieldManager: 'test' });
}

async function breakers(api: MemoryApi): Promise<readonly string[]> {
  const { lines } = await readAuditRecord(api.connection().client(), () => true);
  return lines.flatMap((line) => (line.type === 'closure' ? [line.breaker] : []));
}

/** Some 600 bytes each: 250 of them are more than a part. */
function many(prefix: string, count: number): readonly AuditLine[] {
  return Array.from({ length: count }, (_, index) => closure(`${prefix}${index}`, 'r'.repeat(600)));
}

describe('createAuditRecord', () => {
  it('S30 appends, also in a process that starts later', async () => {
    const api = auditApi();
    await recordOf(api.connection()).append([closure('a'), closure('b')]);
    const later = recordOf(api.connection());
    await later.append([closure('c')]);
    expect(await breakers(api)).toEqual(['a', 'b', 'c']);
    expect((await later.latest()).lines).toHaveLength(3);
  });

  it('S30 loses no line of two processes that append in turn', async () => {
    const api = auditApi();
    const [one, two] = [recordOf(api.connection()), recordOf(api.connection())];
    await one.append([closure('a')]);
    await two.append([closure('b')]);
    await one.append([closure('c')]);
    await two.append([closure('d')]);
    expect(await breakers(api)).toEqual(['a', 'b', 'c', 'd']);
  });

  it.each(['before', 'after'] as const)(
    'S30 has each line once when a process ends %s any of its writes, and the next one repeats',
    async (when) => {
      const lines = many('x', 500);
      for (let n = 1; n <= 6; n += 1) {
        const api = auditApi();
        const dying = api.connection();
        dying.crashAt(n, when);
        await recordOf(dying)
          .append(lines)
          .catch(() => undefined);
        await recordOf(api.connection()).append(lines.slice(-100));
        const found = await breakers(api);
        expect(found.slice(-1)).toEqual(['x499']);
        expect(found.filter((each) => each === 'x499')).toHaveLength(1);
      }
    },
  );

  it('S30 deletes the oldest part when there are more than are kept, and misses none', async () => {
    const api = auditApi();
    const client = api.connection().client();
    const kept = KEPT_PARTS.defender;
    const within = { namespace: NAMESPACE_AUDIT };
    for (const number of [1, 2, 3]) await createPart(number, { lines: '' });
    await createPart(kept, { lines: `${'x'.repeat(128 * 1024)}\n` });
    await client.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: headName('defender'),
        ...within,
      },
      data: { newest: String(kept) },
    });
    await recordOf(api.connection()).append([closure('a')]);
    const { items } = await client.list(CONFIG_MAPS, within);
    expect(items.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      [
        headName('defender'),
        ...[2, 3, kept, kept + 1].map((number) => partName('defender', number)),
      ].toSorted(),
    );

    async function createPart(number: number, data: object): Promise<void> {
      const metadata = { name: partName('defender', number), ...within };
      await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    }
  });

  it('S30 names the newest part once, however many parts an append starts', async () => {
    const api = auditApi();
    await recordOf(api.connection()).append(many('x', 1000));
    const heads = api.journal.filter((entry) => JSON.stringify(entry).includes(`${headName('defender')}"`));
    const parts = api.journal.filter((entry) => JSON.stringify(entry).includes(`${headName('defender')}-`));
    expect([parts.length > 3, heads.length]).toEqual([true, 1]);
    const large = auditApi();
    const dying = large.connection();
    const count = 20;
    dying.crashAt(count, 'before');
    const crashed = recordOf(dying).append(many('x', 250 * count));
    await expect(crashed).rejects.toThrow(/./);
    const head = await large
      .connection()
      .client()
      .get(CONFIG_MAPS, { name: headName('defender'), namespace: NAMESPACE_AUDIT });
    expect(head['data']).toEqual({ newest: '16' });
    const written = await breakers(large);
    await recordOf(large.connection()).append([closure('next')]);
    expect(await breakers(large)).toEqual([...written, 'next']);
    expect(await breakers(api)).toHaveLength(1000);
  });

  it('S30 writes nothing for no lines', async () => {
    const api = auditApi();
    await recordOf(api.connection()).append([]);
    expect(api.journal).toEqual([]);
  });
});

describe('readAuditRecord', () => {
  it('S30 names parts that somebody deleted, and counts lines that it cannot read', async () => {
    const api = auditApi();
    const record = recordOf(api.connection());
    await record.append([...many('x', 500), closure('last')]);
    const client = api.connection().client();
    const name = { name: partName('defender', 2), namespace: NAMESPACE_AUDIT };
    const { metadata } = await client.get<{ metadata: { uid: string } }>(CONFIG_MAPS, name);
    await client.delete(CONFIG_MAPS, name, { uid: metadata.uid });
    const first = { name: partName('defender', 1), namespace: NAMESPACE_AUDIT };
    await client.patch(CONFIG_MAPS, first, { type: 'merge', body: { data: { lines: 'damaged\n' } } });
    const read = await readAuditRecord(client, ({ type }) => type === 'closure');
    expect(read).toMatchObject({ missing: ['record-defender-000002'], unreadable: 1 });
    expect(read.lines.at(-1)).toEqual(closure('last'));
  });

  it('S30 is empty where nothing was recorded', async () => {
    const read = await readAuditRecord(auditApi().connection().client(), () => true);
    expect(read).toEqual({ lines: [], missing: [], unreadable: 0 });
  });
});
