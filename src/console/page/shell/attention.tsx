/** Shows what waits for a person, beside every page: the newest first, each with the command that ends the wait. Below it is what is good to know. */
import type { JSX } from 'preact';
import { type AttentionItem, incidentLines } from '../../state/attention.ts';
import type { ConsoleState } from '../../state/state.ts';
import { absenceText, type UnreadPart } from '../../state/unread.ts';
import { Badge, countText, Section, Since, Unblock } from '../parts/parts.tsx';
import { Moving } from './moving.tsx';

interface AttentionProps extends Pick<ConsoleState, 'notes' | 'rollouts' | 'repairs'> {
  readonly items: readonly AttentionItem[];
  readonly unread: readonly UnreadPart[];
  readonly now: number;
}

export function Attention({ items, unread, notes, rollouts, repairs, now }: AttentionProps): JSX.Element {
  const others = Object.values(notes).filter(({ bad }) => !bad);
  return (
    <div class="side">
      <Section id="attention" title="Needs attention">
        {items.length === 0 && <Nothing incidents={incidentLines(notes).length} unread={unread} />}
        {items.map((item) => (
          <Item key={item.key} item={item} now={now} />
        ))}
      </Section>
      <Moving rollouts={rollouts} repairs={repairs} now={now} />
      {others.length > 0 && (
        <Section id="notes" title="To know">
          <ul class="plain soft">
            {others.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Section>
      )}
    </div>
  );
}

interface NothingProps extends Pick<AttentionProps, 'unread'> {
  readonly incidents: number;
}

function Nothing({ incidents, unread }: NothingProps): JSX.Element {
  if (incidents === 0) return <p class="soft">{absenceText('Nothing waits for a person', unread)}</p>;
  return (
    <p>
      {incidents === 1
        ? 'The incident above the page needs a person.'
        : `${countText(incidents)} incidents above the page need a person.`}
    </p>
  );
}

function Item({ item, now }: { readonly item: AttentionItem; readonly now: number }): JSX.Element {
  const { title, cluster, state, since, because, unblock, address } = item;
  if (title === '') {
    return (
      <div class="card item bad-edge">
        <p>
          <span class="badge bad">! {state}</span> {because}
        </p>
      </div>
    );
  }
  return (
    <article class="card item bad-edge" aria-label={`${title} in ${cluster}`}>
      <h3>
        {address === undefined ? title : <a href={address}>{title}</a>} <span class="soft">in {cluster}</span>
      </h3>
      <p>
        <Badge state={state} /> <Since since={since} now={now} />
      </p>
      <p>{because}</p>
      <Unblock text={unblock} />
    </article>
  );
}
