import { expect, it } from 'vitest';
import { type DrawnWith, incomparableReason } from './picture.ts';

const recorded: DrawnWith = { chromium: '1.2', fonts: ['a.ttf 1', 'b.ttf 1'] };

it.each<[name: string, now: DrawnWith, reason: string | undefined]>([
  ['compares with the same browser and fonts', recorded, undefined],
  [
    'names another Chromium',
    { ...recorded, chromium: '1.3' },
    'the picture was taken with Chromium 1.2, this is 1.3',
  ],
  [
    'names a font of another version, one that is missing and one too many',
    { ...recorded, fonts: ['a.ttf 2', 'c.ttf 1'] },
    'the picture was taken with other fonts: a.ttf 2, c.ttf 1, a.ttf 1',
  ],
])('%s', (_, now, reason) => {
  expect(incomparableReason(recorded, now)).toBe(reason);
});
