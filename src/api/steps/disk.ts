/** Cleaning a disk in place, without a restart of any pod. */
import { SIZE } from '../patterns.ts';
import { choice, flag, int, list, name, named, percent, text } from '../schema.ts';
import { step } from './step.ts';

const TARGETS = ['unusedImages', 'deadContainers', 'rotatedLogs', 'coreDumps'] as const;
/** The targets whose age is known: a runtime does not report since when an image is unused. */
const AGED = ['deadContainers', 'rotatedLogs', 'coreDumps'] as const;

const minAge = int('Minimum age in seconds.', [0, 31_536_000]).optional();

export const cleanDisk = step(
  'CleanDisk',
  'Deletes files that nothing uses. Never follows links out of its directories, and never deletes open files, pinned images or images in use.',
  { risk: 'None', executor: 'Agent' },
  {
    targets: list('What may be deleted, in this order.', choice('A kind of file.', TARGETS), [1, 4]),
    minAgeSeconds: named(
      'CleanDiskMinAge',
      'Minimum age for each target; younger files stay.',
      Object.fromEntries(AGED.map((target) => [target, minAge])),
    ).prefault({}),
    keepImages: list(
      'Image name patterns, with * for any text, that are never deleted. @pinned stands for images that the runtime pins.',
      name('A pattern.', 256),
      [0, 32],
    ).default(['@pinned']),
    maxDelete: text('Maximum size of all deleted files.', { max: 16, pattern: SIZE }),
    stopAtUsedPercent: percent('Stops as soon as the filesystem is used no more than this.').optional(),
    dryRun: flag('Lists what would be deleted, and deletes nothing.').default(false),
  },
);
