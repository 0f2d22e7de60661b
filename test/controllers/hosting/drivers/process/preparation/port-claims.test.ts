import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  claimPort,
  listClaims,
  releaseClaims,
} from '../../../../../../src/controllers/hosting/drivers/process/preparation/port-claims.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const byNumber = (a: number, b: number): number => a - b;

describe('claims of ports', () => {
  it('give every caller another port, also at once', async () => {
    const folder = join(tempFolder('ports'), 'ports');
    const ports = await Promise.all(
      Array.from({ length: 12 }, (_, index) => claimPort(folder, `c-${index}`, tempFolder('scratch'))),
    );
    expect(new Set(ports).size).toBe(12);
    expect((await listClaims(folder)).map(({ port }) => port).toSorted(byNumber)).toEqual(
      ports.toSorted(byNumber),
    );
  });

  it('are released by their cluster only, but for those that it keeps', async () => {
    const [folder, scratch] = [tempFolder('ports'), tempFolder('scratch')];
    const [first, second] = [await claimPort(folder, 'a', scratch), await claimPort(folder, 'a', scratch)];
    const other = await claimPort(folder, 'b', scratch);
    await releaseClaims(folder, 'a', [first]);
    expect((await listClaims(folder)).map(({ port }) => port).toSorted(byNumber)).toEqual(
      [first, other].toSorted(byNumber),
    );
    await releaseClaims(folder, 'a');
    await releaseClaims(folder, 'a');
    expect(await listClaims(folder)).toEqual([{ port: other, cluster: 'b' }]);
    expect(second).not.toBe(first);
  });

  it('leave no temporary file, and ignore those of a writer that was killed', async () => {
    const [folder, scratch] = [tempFolder('ports'), tempFolder('scratch')];
    writeFileSync(join(folder, '20000.0123456789ab.tmp'), 'a\n');
    const port = await claimPort(folder, 'a', scratch);
    expect(await listClaims(folder)).toEqual([{ port, cluster: 'a' }]);
    expect(readdirSync(folder)).toHaveLength(2);
    expect(readdirSync(scratch)).toEqual([]);
  });

  it('are none where there is no folder', async () => {
    expect(await listClaims('/does/not/exist')).toEqual([]);
  });
});
