import { describe, expect, it } from 'vitest';
import {
  newerVersions,
  stableVersion,
  versionsInReleases,
} from '../../../../../src/cli/commands/component/catalog/newer.ts';

describe('newerVersions', () => {
  it.each([
    ['nothing', '1.36.4', ['1.36.4', '1.36.3', '1.35.9'], {}],
    ['nothing of an empty list', '1.36.4', [], {}],
    ['the newest patch, by number', '1.36.4', ['1.36.9', '1.36.10', '1.36.5'], { patch: '1.36.10' }],
    [
      'the newest of each step',
      '1.36.4',
      ['2.0.0', '2.1.0', '1.37.0', '1.38.1', '1.36.5'],
      { patch: '1.36.5', minor: '1.38.1', major: '2.1.0' },
    ],
    ['a minor version with a lower patch', '1.36.4', ['1.37.0'], { minor: '1.37.0' }],
    ['the release after its candidate', '1.36.0-rc.1', ['1.36.0'], { patch: '1.36.0' }],
  ])('finds %s', (_, selected, published, expected) => {
    expect(newerVersions(selected, published)).toEqual(expected);
  });
});

describe('stableVersion', () => {
  it.each([
    ['v1.36.4\n', '1.36.4'],
    ['1.36.4', '1.36.4'],
    ['v2.4.0-rc.1', undefined],
    ['api/v1.9.0', undefined],
    ['<html>', undefined],
  ])('%j is %s', (tag, version) => {
    expect(stableVersion(tag)).toBe(version);
  });
});

describe('versionsInReleases', () => {
  it('leaves drafts, pre-releases and other tags out', () => {
    const page = [
      { tag_name: 'v2.4.0', draft: true, prerelease: false },
      { tag_name: 'v2.3.5', prerelease: true },
      { tag_name: 'api/v1.9.0' },
      { tag_name: 7 },
      null,
      { tag_name: 'v2.3.4', draft: false, prerelease: false },
    ];
    expect(versionsInReleases(page)).toEqual(['2.3.4']);
  });

  it('is undefined for anything but a list', () => {
    expect(versionsInReleases({ message: 'API rate limit exceeded' })).toBeUndefined();
  });
});
