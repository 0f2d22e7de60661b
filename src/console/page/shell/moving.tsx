/** Shows what is in work, beside every page: rollouts with their batch, and repairs with their phase. */
import type { JSX } from 'preact';
import { repairNeedsAttention, rolloutNeedsAttention } from '../../state/attention.ts';
import { machineAddress, pageAddress } from '../../state/pages/address.ts';
import type { ConsoleState, RepairCard, RolloutCard } from '../../state/state.ts';
import { countText, Section, Since } from '../parts/parts.tsx';

interface MovingProps extends Pick<ConsoleState, 'rollouts' | 'repairs'> {
  readonly now: number;
}

/** The pages of rollouts and repairs show all. */
const MAX_SHOWN = 5;

export function Moving({ rollouts, repairs, now }: MovingProps): JSX.Element | null {
  const rolling = Object.entries(rollouts).filter(
    ([, card]) => card.state === 'Running' && !rolloutNeedsAttention(card),
  );
  const repaired = Object.entries(repairs).filter(
    ([, card]) => card.state === 'Running' && !repairNeedsAttention(card),
  );
  if (rolling.length + repaired.length === 0) return null;
  return (
    <Section id="moving" title="In work">
      <ul class="plain moving">
        {rolling.slice(0, MAX_SHOWN).map(([key, card]) => (
          <MovingRollout key={key} card={card} />
        ))}
        {repaired.slice(0, MAX_SHOWN).map(([key, card]) => (
          <MovingRepair key={key} card={card} now={now} />
        ))}
      </ul>
      <More count={rolling.length - MAX_SHOWN} what="rollouts" />
      <More count={repaired.length - MAX_SHOWN} what="repairs" />
    </Section>
  );
}

function MovingRollout({ card }: { readonly card: RolloutCard }): JSX.Element {
  const { cluster, set, batch, selected, updated } = card;
  return (
    <li>
      <span>
        <a href={pageAddress('rollouts', { cluster })}>Rollout {set}</a>{' '}
        <span class="soft">in {cluster}</span>
      </span>
      <progress
        max={Math.max(selected, 1)}
        value={updated}
        aria-label={`Machines updated by ${set} in ${cluster}`}
      />
      <span class="soft">
        {countText(updated)} of {countText(selected)} machines updated
        {batch && `, batch ${batch.place}`}
      </span>
    </li>
  );
}

function MovingRepair(props: { readonly card: RepairCard; readonly now: number }): JSX.Element {
  const { cluster, machine, rule, rung, phase, created } = props.card;
  return (
    <li>
      <span>
        <a href={machineAddress(`${cluster}/${machine}`)}>Repair of {machine}</a>{' '}
        <span class="soft">in {cluster}</span>
      </span>
      <span class="soft">
        {phase} <Since since={created} now={props.now} />, rule {rule}, rung {rung}
      </span>
    </li>
  );
}

function More({
  count,
  what,
}: {
  readonly count: number;
  readonly what: 'rollouts' | 'repairs';
}): JSX.Element | null {
  if (count <= 0) return null;
  return (
    <p>
      <a href={pageAddress(what)}>
        {countText(count)} more {what}
      </a>
    </p>
  );
}
