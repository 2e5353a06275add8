// A contributor that says when the session began: it owns `DSH_SESSION_STARTED`, a time in ISO 8601.

const KEY = "DSH_SESSION_STARTED";

// The last moment that ISO 8601 writes with a year of four digits.
const LAST = BigInt(Date.parse("9999-12-31T23:59:59.999Z"));

/**
 * The time of `createdAt`, milliseconds since the Unix epoch, in UTC; nothing when it is absent or no such time.
 * @param {bigint | undefined} createdAt
 */
export function started(createdAt) {
  if (createdAt === undefined || createdAt > LAST) return undefined;
  return new Date(Number(createdAt)).toISOString();
}

export const contributor = {
  /** Asked once, at load: everything this contributor may ever return. */
  declare() {
    return {
      name: "session-started",
      variables: [
        {
          key: KEY,
          description:
            "When the session that runs the command began, in UTC, such as `2024-01-31T09:30:00.000Z`. A hint and no " +
            "credential. Absent without an agent, and when the time is not known.",
          sensitive: false,
          metadata: [],
        },
      ],
      metadata: [],
    };
  },

  /** Asked for every shell call, in a fresh instance: what is true now. `throw "why"` would fail the call. */
  resolve(execution) {
    const value = started(execution.agent?.session.createdAt);
    return value === undefined ? [] : [{ key: KEY, value }];
  },
};
