/** The guides that take many minutes, as printed, in the order of each page. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { packedTarball } from '../support/packed.ts';
import { createPerson, type Person } from '../support/page/person.ts';
import { LONG } from '../support/sweep-size.ts';
import { follow } from './guides/guide.ts';
import { LONG_GUIDES } from './guides/guides.ts';

const reason = LONG ? undefined : 'npm run test:long';

describe.skipIf(reason)(`a patient reader${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let person: Person;
  beforeAll(async () => {
    person = createPerson('long-guides', inject('controlPlaneRun').binaries, await packedTarball());
  });
  afterAll(() => person.leave());

  it.each(LONG_GUIDES)('follows $path', async (guide) => {
    expect(await follow(person, guide)).toBeGreaterThan(0);
  });
});
