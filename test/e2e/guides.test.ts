/** The guides that need clusters of this machine at most, as printed, in the order of each page. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { packedTarball } from '../support/packed.ts';
import { createPerson, type Person } from '../support/page/person.ts';
import { follow } from './guides/guide.ts';
import { GUIDES_OF_CLUSTERS } from './guides/guides.ts';

describe('a reader', { shuffle: false }, () => {
  let person: Person;
  beforeAll(async () => {
    person = createPerson('guides', inject('controlPlaneRun').binaries, await packedTarball());
  });
  afterAll(() => person.leave());

  it.each(GUIDES_OF_CLUSTERS)('follows $path', async (guide) => {
    expect(await follow(person, guide)).toBeGreaterThan(0);
  });
});
