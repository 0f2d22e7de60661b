/** The commands of README.md, as printed and in its order, by a user without root. */
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createPerson, type Person } from '../support/page/person.ts';
import { follow } from './guides/guide.ts';
import { readme } from './guides/readme.ts';

describe('README.md', () => {
  let person: Person;
  beforeAll(() => {
    person = createPerson('readme', inject('controlPlaneRun').binaries);
  });
  afterAll(() => person.leave());

  it('leads from npm start through a commit and back, on the same machine', async () => {
    expect(await follow(person, readme)).toBeGreaterThan(8);
    expect(person.user.run('ls', [person.user.parent]).split('\n')).toContain('kubenode-demo');
  });
});
