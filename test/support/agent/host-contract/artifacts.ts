/** Downloads and archives of a host. */
import { describe, expect, it } from 'vitest';
import { bytes, type ContractBed, PLAIN, ROOT } from './bed.ts';

const LIMITS = { maxBytes: 1_000_000, timeoutMs: 20_000 };

export function describeArtifacts(bed: ContractBed): void {
  describe('downloads and archives', () => {
    it('downloads to a private file, and again over it', async () => {
      const url = await bed.contract.publish(bytes('content'));
      await bed.host.network.download(url, `${ROOT}/cache/a`, LIMITS);
      await bed.host.network.download(url, `${ROOT}/cache/a`, LIMITS);
      expect(await bed.text(`${ROOT}/cache/a`)).toBe('content');
      expect(await bed.host.files.stat(`${ROOT}/cache/a`)).toMatchObject({ mode: '0600' });
    });

    it('AGT-03 refuses content above the limit', async () => {
      const url = await bed.contract.publish(bytes('content'));
      await expect(
        bed.host.network.download(url, `${ROOT}/a`, { ...LIMITS, maxBytes: 3 }),
      ).rejects.toMatchObject({ code: 'TooLarge' });
    });

    it('names a URL that has nothing', async () => {
      const url = await bed.contract.publish(bytes('content'));
      await expect(bed.host.network.download(`${url}-none`, `${ROOT}/a`, LIMITS)).rejects.toMatchObject({
        code: 'Download',
      });
    });

    it('unpacks an archive, and refuses one above the limits', async () => {
      const archive = await bed.contract.archive(
        new Map([
          ['bin/a', 'A'],
          ['b', 'B'],
        ]),
      );
      await bed.host.files.write(`${ROOT}/x.tar.gz`, archive, PLAIN);
      await bed.host.files.unpack(`${ROOT}/x.tar.gz`, `${ROOT}/v1`, { maxBytes: 10_000, maxEntries: 10 });
      expect(await bed.text(`${ROOT}/v1/bin/a`)).toBe('A');
      expect(await bed.text(`${ROOT}/v1/b`)).toBe('B');
      await expect(
        bed.host.files.unpack(`${ROOT}/x.tar.gz`, `${ROOT}/v2`, { maxBytes: 10_000, maxEntries: 1 }),
      ).rejects.toMatchObject({ code: 'TooLarge' });
      await expect(
        bed.host.files.unpack(`${ROOT}/none`, `${ROOT}/v3`, { maxBytes: 1, maxEntries: 1 }),
      ).rejects.toMatchObject({ code: 'NoAccess' });
    });

    it('replaces longer content by shorter content', async () => {
      const [long, short] = [await bed.contract.publish(bytes('long content')), bytes('short')];
      await bed.host.network.download(long, `${ROOT}/a`, LIMITS);
      await bed.host.network.download(await bed.contract.publish(short), `${ROOT}/a`, LIMITS);
      expect(await bed.text(`${ROOT}/a`)).toBe('short');
    });

    it('AGT-10 refuses a damaged archive and writes nothing of it', async () => {
      await bed.write(`${ROOT}/x.tar.gz`, 'no archive');
      await expect(
        bed.host.files.unpack(`${ROOT}/x.tar.gz`, `${ROOT}/v1`, { maxBytes: 10_000, maxEntries: 10 }),
      ).rejects.toMatchObject({ code: 'BadArchive' });
      expect(await bed.host.files.list(`${ROOT}/v1`)).toEqual([]);
    });

    it('AGT-10 refuses an archive with more content than the limit', async () => {
      const archive = await bed.contract.archive(new Map([['a', 'x'.repeat(5000)]]));
      await bed.host.files.write(`${ROOT}/x.tar.gz`, archive, PLAIN);
      await expect(
        bed.host.files.unpack(`${ROOT}/x.tar.gz`, `${ROOT}/v1`, { maxBytes: 4000, maxEntries: 10 }),
      ).rejects.toMatchObject({ code: 'TooLarge' });
    });
  });
}
