import { readNetworks, readSwitch } from "./readers.ts";
import { setting } from "./setting.ts";

/** Where webhooks may be sent. */
export const webhooksSettings = {
  webhooksAllowInsecure: setting({
    flag: "webhooks-allow-insecure",
    default: "off",
    description: "Allows `http://` addresses for webhooks. The variable is `on` or `off`.",
    read: readSwitch,
  }),
  webhooksAllowedNetworks: setting({
    flag: "webhooks-allowed-networks",
    placeholder: "NETWORKS",
    default: "",
    description:
      "Private addresses or networks that webhooks may use, separated by commas. Public ones are always allowed.",
    read: readNetworks,
  }),
} as const;
