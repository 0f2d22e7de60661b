/** How the live view of a rollout is shown. Pure. */

import { formatRollout } from '../../../../views/rollout/show.ts';
import type { RolloutView } from '../../../../views/rollout/view.ts';
import type { Screen } from '../../../../views/text/frame.ts';
import { type FrameLine, plainLines } from '../../../../views/text/frame.ts';
import type { Presentation } from '../../../live/display.ts';
import { changeLines } from './changes.ts';

export const ROLLOUT_PRESENTATION: Presentation<RolloutView> = {
  label: ({ set }) => set,
  changes: changeLines,
  frame: rolloutFrame,
};

/** The summary has up to this many lines besides the lists of machines. */
const SUMMARY_ROWS = 16;

function rolloutFrame(view: RolloutView, now: Date, { columns, rows }: Screen): readonly FrameLine[] {
  const listRows = Math.max(1, rows - SUMMARY_ROWS);
  return plainLines(formatRollout(view, now, { columns, listRows }));
}
