/** The last Events of a machine as a timeline, the newest first. */
import type { JSX } from 'preact';
import type { MachineEventRow, MachineEventsView } from '../../../views/machine/detail.ts';
import { Ago } from '../parts/parts.tsx';
import { AskAgain, Failed } from './asked.tsx';
import { useOnDemand } from './on-demand.ts';

interface EventsProps {
  /** Its key. */
  readonly machine: string;
  readonly version: string;
  readonly now: number;
}

export function Events({ machine, version, now }: EventsProps): JSX.Element {
  const { answer, failure, isReading, readAgain } = useOnDemand<MachineEventsView>(
    'events-of',
    machine,
    version,
  );
  return (
    <div class="answer" aria-busy={isReading}>
      <h3>Events</h3>
      {answer && <Known answer={answer} now={now} />}
      {failure !== undefined && <Failed failure={failure} />}
      {failure !== undefined && <AskAgain {...{ isReading, readAgain }} />}
      {!answer && failure === undefined && <p class="soft">Reading …</p>}
    </div>
  );
}

interface KnownProps extends Pick<EventsProps, 'now'> {
  readonly answer: MachineEventsView;
}

function Known({ answer: { events, problem }, now }: KnownProps): JSX.Element {
  return (
    <>
      {problem !== undefined && <p class="badge attention">! {problem}</p>}
      {events.length > 0 && (
        <ol class="events" aria-label="Events, the newest first">
          {events.map((event, index) => (
            <Event key={index} event={event} now={now} />
          ))}
        </ol>
      )}
      {events.length === 0 && problem === undefined && (
        <p class="soft">None is kept: an API server drops them after an hour by default.</p>
      )}
    </>
  );
}

function Event({ event, now }: { readonly event: MachineEventRow; readonly now: number }): JSX.Element {
  const { at, isWarning, reason, about, message, count, from } = event;
  return (
    <li class={isWarning ? 'warning' : ''}>
      <p>
        <strong>
          {isWarning && '! '}
          {reason}
        </strong>{' '}
        {count > 1 && <span>{count} times, last </span>}
        <Ago at={at} now={now} />
      </p>
      <p>{message}</p>
      <p class="soft">
        {about}
        {from !== '' && `, by ${from}`}
      </p>
    </li>
  );
}
