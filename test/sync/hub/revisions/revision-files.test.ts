import { createSecretKey, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { KeptRevision } from '../../../../src/api/generated/types.ts';
import {
  createRevisionFiles,
  type RevisionFiles,
} from '../../../../src/sync/hub/revisions/revision-files.ts';
import type { RenderedTarget } from '../../../../src/sync/rendered.ts';
import { tempFolder } from '../../../support/temp.ts';
import { contentOf, unitOf } from './content.ts';

const FIRST = contentOf('prod', unitOf('db', 'one'), unitOf('web', 'one'));
const SECOND = contentOf('prod', unitOf('db', 'one'), unitOf('web', 'two'));

function files(folder: string, key = 1, scope = 'hub/prod'): RevisionFiles {
  const secret = createSecretKey(Buffer.alloc(32, key));
  return createRevisionFiles({ folder, scope, key: () => secret, random: randomBytes });
}

function revision(minute: number, { digest }: RenderedTarget): KeptRevision {
  return { commit: `c${minute}`, digest, keptAt: new Date(minute * 60_000).toISOString() };
}

async function twoRevisions(): Promise<string> {
  const folder = join(tempFolder('revisions'), 'prod');
  await files(folder).put(revision(1, FIRST), FIRST);
  await files(folder).put(revision(2, SECOND), SECOND);
  return folder;
}

async function readFirst(of: RevisionFiles): Promise<RenderedTarget | undefined> {
  const found = (await of.list()).find(({ commit }) => commit === 'c1');
  return found && of.read(found, 'prod');
}

describe('createRevisionFiles', () => {
  it('S24 returns exactly what was kept, newest first, to a new process', async () => {
    const again = files(await twoRevisions());
    expect((await again.list()).map(({ commit }) => commit)).toEqual(['c2', 'c1']);
    expect(await readFirst(again)).toEqual(FIRST);
  });

  it('S24 keeps a unit that does not change as one file, and no content in clear', async () => {
    const folder = await twoRevisions();
    const names = readdirSync(folder);
    expect(names).toHaveLength(4);
    for (const name of names) {
      expect(readFileSync(join(folder, name)).includes('ConfigMap')).toBe(false);
      expect(statSync(join(folder, name)).mode & 0o077).toBe(0);
    }
  });

  it('S24 lists nothing with another key, and for another cluster', async () => {
    const folder = await twoRevisions();
    expect(await files(folder, 2).list()).toEqual([]);
    expect(await files(folder, 1, 'hub/test').list()).toEqual([]);
  });

  it('S24 refuses a revision with a damaged, a missing or an exchanged unit, and is filled again', async () => {
    const folder = await twoRevisions();
    const [web, other] = [FIRST, SECOND].map((each) => join(folder, each.units[1]?.digest.slice(7) ?? ''));
    const before = readFileSync(web ?? '');
    for (const change of [
      () => writeFileSync(web ?? '', before.subarray(1)),
      () => rmSync(web ?? ''),
      () => writeFileSync(web ?? '', readFileSync(other ?? '')),
    ]) {
      change();
      expect(await readFirst(files(folder))).toBeUndefined();
      await files(folder).put(revision(1, FIRST), FIRST);
      expect(await readFirst(files(folder))).toEqual(FIRST);
    }
  });

  it('S24 removes the files that no kept revision needs', async () => {
    const folder = await twoRevisions();
    writeFileSync(join(folder, '.left-by-a-killed-process.tmp'), 'x');
    for (let minute = 3; minute < 23; minute += 1) {
      const content = contentOf('prod', unitOf('web', `version ${minute}`));
      await files(folder).put(revision(minute, content), content);
    }
    expect(await files(folder).list()).toHaveLength(20);
    expect(readdirSync(folder)).toHaveLength(21);
  });

  it('S24 refuses content that has not the digest of its name', async () => {
    const folder = join(tempFolder('revisions'), 'prod');
    const digest = `sha256:${'0'.repeat(64)}`;
    const wrong = contentOf('prod', { ...unitOf('web', 'one'), digest });
    await files(folder).put(revision(1, wrong), wrong);
    expect(await readFirst(files(folder))).toBeUndefined();
  });

  it('keeps a revision without objects', async () => {
    const folder = join(tempFolder('revisions'), 'prod');
    const empty = contentOf('prod');
    expect(await files(folder).put(revision(1, empty), empty)).toHaveLength(1);
    expect(await readFirst(files(folder))).toEqual(empty);
  });
});
